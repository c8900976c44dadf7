//! Letting a driver's call fail.

use super::theme::{BOX, DIM, NAMES, WARN, cell};
use crate::demo::overlay::inject::{KINDS, Wish, kind_name, short_name, side_name};
use crate::demo::overlay::player::{Action, Player};
use egui::{ComboBox, Label, RichText, Ui};
use pixelferry_faults::Step;

pub fn show(ui: &mut Ui, player: &Player, wish: &mut Wish, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        cell(ui, NAMES, RichText::new("call").color(DIM));
        let chosen = format!("{}: {}", side_name(wish.step), short_name(wish.step));
        ComboBox::from_id_salt("step").width(BOX).height(420.0).selected_text(chosen).show_ui(ui, |ui| {
            // Steps that each frame calls come first: they fail at once.
            let mut steps = Step::ALL.to_vec();
            steps.sort_by_key(|step| player.calls(*step) == 0);
            for step in steps {
                let often = match player.calls(step) {
                    0 => RichText::new(step.name()).color(DIM),
                    1 => RichText::new(step.name()),
                    calls => RichText::new(format!("{} ({calls} a frame)", step.name())),
                };
                ui.selectable_value(&mut wish.step, step, often);
            }
        });
    });
    ui.horizontal(|ui| {
        cell(ui, NAMES, RichText::new("fails by").color(DIM));
        ComboBox::from_id_salt("kind").width(BOX).selected_text(kind_name(wish.kind)).show_ui(ui, |ui| {
            for (kind, name) in KINDS {
                ui.selectable_value(&mut wish.kind, kind, name);
            }
        });
    });
    ui.horizontal(|ui| {
        cell(ui, NAMES, "");
        ui.checkbox(&mut wish.lasting, "every such call").on_hover_text("Until cleared, not once");
        if ui.button("Inject").clicked() {
            actions.push(Action::Inject(*wish));
        }
        if ui.add_enabled(player.armed().is_some(), egui::Button::new("Clear")).clicked() {
            actions.push(Action::Clear);
        }
    });
    if let Some((armed, failed)) = player.armed() {
        let state = match failed {
            0 => "waits for its call".into(),
            1 => "one call failed".into(),
            calls => format!("{calls} calls failed"),
        };
        let text = format!("{} ({}): {state}", armed.step.name(), kind_name(armed.kind));
        ui.add(Label::new(RichText::new(text).color(WARN)).wrap());
    }
}
