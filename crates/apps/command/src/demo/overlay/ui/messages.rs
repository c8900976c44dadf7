//! Panel with the library's messages, newest at the bottom.

use super::theme::{BAD, DIM, TEXT, WARN, heading};
use crate::demo::overlay::log::Log;
use egui::{Label, RichText, ScrollArea, Ui};
use tracing::Level;

pub fn show(ui: &mut Ui, log: &Log) {
    heading(ui, "Messages");
    ScrollArea::vertical().id_salt("messages").auto_shrink(false).stick_to_bottom(true).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        for line in log.all() {
            let colour = match line.level {
                Level::ERROR => BAD,
                Level::WARN => WARN,
                Level::INFO => TEXT,
                _ => DIM,
            };
            let times = if line.times > 1 { format!(" ({} times)", line.times) } else { String::new() };
            let text = format!("{:7.2} s  {}{times}", line.seconds, line.text);
            ui.add(Label::new(RichText::new(text).small().color(colour)).wrap());
        }
    });
}
