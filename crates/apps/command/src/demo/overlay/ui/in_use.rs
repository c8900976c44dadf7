//! Panel with the current path, its two sides, and the reason for it.

use super::theme::{DIM, GOOD, WARN};
use crate::demo::overlay::player::Player;
use egui::{Align, Label, Layout, RichText, Ui};
use pixelferry::DeviceIdentity;
use pixelferry::driver::describe::words::counted;

pub fn show(ui: &mut Ui, player: &mut Player) {
    let name = player.scene().name();
    let link = player.scene().link();
    let (report, late) = (link.report(), link.frames_behind());
    ui.horizontal(|ui| {
        ui.label(RichText::new("pixelferry").heading().strong());
        ui.label(RichText::new(name).heading().color(DIM));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(RichText::new("F1 hides the panels").small().color(DIM));
        });
    });
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new(link.path().name()).size(16.0).strong().color(GOOD));
        ui.label(RichText::new("in use").color(DIM));
    });
    if let Some(chosen) = report.chosen() {
        ui.add(Label::new(RichText::new(chosen.mechanism).color(DIM)).wrap());
        ui.add(Label::new(format!("Why: {}", chosen.state.detail())).wrap());
    }
    ui.add_space(3.0);
    row(ui, "compute", &device(&report.compute));
    row(ui, "display", &device(&report.display));
    row(ui, "surface", &link.desc().to_string());
    let shown = if late == 0 {
        "the most recently finished frame".into()
    } else {
        format!("{} behind", counted(late, "frame"))
    };
    row(ui, "shown", &shown);
    for diagnosis in &report.diagnoses {
        ui.add(Label::new(RichText::new(format!("{}: {}", diagnosis.name, diagnosis.finding)).color(WARN)).wrap())
            .on_hover_text(&diagnosis.advice);
    }
}

fn device(device: &DeviceIdentity) -> String {
    let kind = if device.software { "software" } else { "hardware" };
    format!("{device} ({kind})")
}

fn row(ui: &mut Ui, name: &str, value: &str) {
    ui.horizontal(|ui| {
        super::theme::cell(ui, 56.0, RichText::new(name).color(DIM));
        ui.add(Label::new(value).truncate()).on_hover_text(value);
    });
}
