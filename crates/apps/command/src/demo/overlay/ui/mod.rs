//! The panels.

mod controls;
mod draw_args;
mod graph;
mod in_use;
mod messages;
mod paths;

pub use pixelferry_view::paint::theme::BEHIND;

use super::LEAST;
use super::player::{Action, Player};
use egui::{CentralPanel, Frame, FullOutput, Key, RawInput, Rect, ScrollArea, SidePanel, TopBottomPanel};
use pixelferry_view::paint::{PanelMesh, theme};

/// Width of the left panel, points.
const LEFT: f32 = 348.0;
/// Height of the bottom panel, points.
const BOTTOM: f32 = 340.0;
/// Frame rate that egui's animations assume without a window.
const FRAMES_A_SECOND: f64 = 30.0;

/// The panels and their state.
pub struct Ui {
    context: egui::Context,
    /// Toggled with F1.
    hidden: bool,
}

impl Default for Ui {
    fn default() -> Self {
        let context = egui::Context::default();
        theme::apply(&context);
        Self { context, hidden: false }
    }
}

/// Result of one layout.
pub struct Ran {
    pub painted: PanelMesh,
    pub actions: Vec<Action>,
    pub platform: egui::PlatformOutput,
}

impl Ui {
    pub fn context(&self) -> &egui::Context {
        &self.context
    }

    /// Returns the input of a window of this many pixels in which nothing happens.
    pub fn input_without_window(&self, (width, height): (u32, u32), frame: u64) -> RawInput {
        let size = egui::vec2(width as f32, height as f32);
        let time = Some(frame as f64 / FRAMES_A_SECOND);
        RawInput { screen_rect: Some(Rect::from_min_size(egui::Pos2::ZERO, size)), time, ..RawInput::default() }
    }

    /// Lays out the panels for the current state of `player`. Returns shapes, requested actions and the picture's area.
    pub fn lay_out(&mut self, input: RawInput, player: &mut Player) -> (FullOutput, Vec<Action>, Rect) {
        let Self { context, hidden } = self;
        let mut actions = Vec::new();
        let mut picture = Rect::NOTHING;
        let output = context.run(input, |context| {
            *hidden ^= context.input(|input| input.key_pressed(Key::F1));
            let whole = context.content_rect();
            let has_room = whole.width() >= LEAST.width as f32 && whole.height() >= LEAST.height as f32;
            let shown = has_room && !*hidden;
            picture = if shown { panels(context, player, &mut actions) } else { whole };
        });
        (output, actions, picture)
    }

    /// Lays out the panels and tessellates them.
    pub fn run(&mut self, input: RawInput, player: &mut Player) -> Ran {
        let (mut output, actions, picture) = self.lay_out(input, player);
        let platform = std::mem::take(&mut output.platform_output);
        Ran { painted: PanelMesh::of(&self.context, output, picture), actions, platform }
    }
}

/// Shows the panels and returns the picture's area.
fn panels(context: &egui::Context, player: &mut Player, actions: &mut Vec<Action>) -> Rect {
    SidePanel::left("controls").exact_width(LEFT).resizable(false).frame(theme::panel()).show(context, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            in_use::show(ui, player);
            theme::section(ui, "Frame time");
            graph::show(ui, player.times());
            theme::section(ui, "Scene and path");
            controls::show(ui, player, actions);
            theme::section(ui, "Look");
            draw_args::show(ui, player, actions);
        });
    });
    TopBottomPanel::bottom("tables").exact_height(BOTTOM).resizable(false).frame(theme::panel()).show(context, |ui| {
        let all = ui.available_rect_before_wrap();
        let (left, right) = all.split_left_right_at_fraction(0.66);
        theme::at(ui, left.with_max_x(left.right() - 12.0), |ui| paths::show(ui, player));
        theme::at(ui, right.with_min_x(right.left() + 12.0), |ui| messages::show(ui, player.log()));
    });
    CentralPanel::default().frame(Frame::NONE).show(context, |ui| ui.max_rect().shrink(8.0)).inner
}
