//! Table of all paths: state, cost and reason.

use super::theme::{DIM, TEXT, cell, colour_of, heading};
use crate::demo::overlay::player::Player;
use egui::{Label, RichText, ScrollArea, Ui};
use pixelferry::report::{PathCost, PathReport, PathState};

const COLUMNS: [(&str, f32); 5] = [("path", 148.0), ("state", 84.0), ("median", 68.0), ("p99", 68.0), ("sync", 116.0)];

/// Minimum width of the column with the finding, in points; other columns give way to it.
const FOUND: f32 = 70.0;

/// Returns the columns that fit into this width.
fn columns(width: f32) -> &'static [(&'static str, f32)] {
    let fits = |count: &usize| COLUMNS[..*count].iter().map(|(_, width)| width + 8.0).sum::<f32>() + FOUND <= width;
    let count = (1..=COLUMNS.len()).rev().find(fits).unwrap_or(1);
    &COLUMNS[..count]
}

pub fn show(ui: &mut Ui, player: &mut Player) {
    let columns = columns(ui.available_width());
    let report = player.scene().link().report();
    heading(ui, "Paths from compute to display");
    ui.horizontal(|ui| {
        for (name, width) in columns {
            cell(ui, *width, RichText::new(*name).small().color(DIM));
        }
        ui.label(RichText::new("what was found").small().color(DIM));
    });
    ScrollArea::vertical().id_salt("paths").auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        // Usable paths come first; each group keeps the order in which paths are tried.
        let mut rows: Vec<&PathReport> = report.paths.iter().collect();
        rows.sort_by_key(|path| matches!(path.state, PathState::NotOffered { .. }));
        for path in rows {
            ui.horizontal(|ui| row(ui, columns, path));
        }
    });
}

fn row(ui: &mut Ui, columns: &[(&str, f32)], path: &PathReport) {
    let colour = colour_of(&path.state);
    let best: Option<&PathCost> = path.measured.iter().min_by(|a, b| a.median_us.total_cmp(&b.median_us));
    let time = |us: Option<f64>| us.map_or("-".into(), |us| format!("{us:.0} us"));
    let texts = [
        path.id.to_string(),
        path.state.word().to_lowercase(),
        time(best.map(|m| m.median_us)),
        time(best.map(|m| m.p99_us)),
        best.map_or("-".into(), |m| m.sync.to_string()),
    ];
    for ((_, width), text) in columns.iter().zip(texts) {
        cell(ui, *width, RichText::new(text).color(colour));
    }
    let detail = path.state.detail();
    let shade = if path.state.works() { TEXT } else { DIM };
    ui.add(Label::new(RichText::new(&detail).small().color(shade)).truncate())
        .on_hover_text(format!("{}\n{detail}", path.mechanism));
}
