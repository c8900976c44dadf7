//! Controls of the running scene.

use super::theme::{BOX, DIM, NAMES, cell};
use crate::demo::catalog::SceneName;
use crate::demo::overlay::player::{Action, Player};
use crate::demo::overlay::setup::{MODES, SIZES, Setup, mode_name, name_of};
use clap::ValueEnum;
use egui::{ComboBox, RichText, Ui};
use pixelferry::{BackendChoice, PathId, PixelFormat, command::ApiChoice as _, report::PathState};
use pixelferry_demo::pixels::{Alpha, Pixels, Tone};
use pixelferry_demo::scenes::filter::Filter;

pub fn show(ui: &mut Ui, player: &mut Player, actions: &mut Vec<Action>) {
    let mut setup = *player.setup();
    choose(ui, "scene", &mut setup.scene, SceneName::value_variants(), |scene| name_of(*scene));
    let backends: Vec<_> = BackendChoice::all().map(|row| row.choice).collect();
    choose(ui, "backend", &mut setup.backend, &backends, |backend| backend.name().to_owned());
    size(ui, &mut setup);
    match setup.scene {
        SceneName::Filter => {
            choose(ui, "filter", &mut setup.filter, Filter::value_variants(), |filter| name_of(*filter));
        }
        _ if setup.has_free_size() => {
            choose(ui, "format", &mut setup.pixels.format, &PixelFormat::ALL, PixelFormat::to_string);
            meaning(ui, &mut setup.pixels);
        }
        _ => fixed(ui, "format", "vertices of floats"),
    }
    choose(ui, "mode", &mut setup.mode, &MODES, |mode| mode_name(*mode));
    let paths = offered(player);
    choose(ui, "path", &mut setup.path, &paths, |path| path.map_or("the best".into(), |id| id.to_string()));
    ui.horizontal(|ui| {
        cell(ui, NAMES, "");
        let again = ui.button("Recalibrate").on_hover_text("Try and time all paths again, including rejected ones");
        if again.clicked() {
            actions.push(Action::Recalibrate);
        }
    });
    if setup != *player.setup() {
        actions.push(Action::Change(setup));
    }
}

fn size(ui: &mut Ui, setup: &mut Setup) {
    match setup.scene {
        _ if setup.has_free_size() => {
            // A size from the command line may be missing in the list.
            let mut choices = SIZES.to_vec();
            if !choices.contains(&setup.size) {
                choices.insert(0, setup.size);
            }
            choose(ui, "size", &mut setup.size, &choices, |(w, h)| format!("{w} x {h} pixels"));
        }
        SceneName::Filter => fixed(ui, "size", "size of the input picture or video"),
        _ => fixed(ui, "size", "10 000 points"),
    }
}

/// Shows controls for the meaning of a pixel's numbers.
fn meaning(ui: &mut Ui, pixels: &mut Pixels) {
    ui.horizontal(|ui| {
        cell(ui, NAMES, RichText::new("tone").color(DIM));
        pick(ui, "tone", 78.0, &mut pixels.tone, Tone::value_variants(), |tone| name_of(*tone));
        ui.label(RichText::new("alpha").color(DIM));
        pick(ui, "alpha", 82.0, &mut pixels.alpha, Alpha::value_variants(), |alpha| name_of(*alpha));
    });
}

/// Paths that can be forced: those that both sides offer.
fn offered(player: &mut Player) -> Vec<Option<PathId>> {
    let rows = player.scene().link().report().paths.iter();
    let able = rows.filter(|row| !matches!(row.state, PathState::NotOffered { .. })).map(|row| Some(row.id));
    std::iter::once(None).chain(able).collect()
}

fn choose<T: Clone + PartialEq>(ui: &mut Ui, name: &str, value: &mut T, choices: &[T], text: impl Fn(&T) -> String) {
    ui.horizontal(|ui| {
        cell(ui, NAMES, RichText::new(name).color(DIM));
        pick(ui, name, BOX, value, choices, text);
    });
}

/// Shows a drop-down list. `name` must be unique among all panels.
pub fn pick<T: Clone + PartialEq>(
    ui: &mut Ui,
    name: &str,
    width: f32,
    value: &mut T,
    choices: &[T],
    text: impl Fn(&T) -> String,
) {
    ComboBox::from_id_salt(name).width(width).selected_text(text(value)).show_ui(ui, |ui| {
        for choice in choices {
            ui.selectable_value(value, choice.clone(), text(choice));
        }
    });
}

fn fixed(ui: &mut Ui, name: &str, value: &str) {
    ui.horizontal(|ui| {
        cell(ui, NAMES, RichText::new(name).color(DIM));
        ui.label(RichText::new(value).color(DIM));
    });
}
