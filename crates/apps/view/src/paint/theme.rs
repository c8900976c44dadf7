//! Colours, sizes and small parts that all panels use.

use egui::{
    Color32, FontFamily, FontId, Frame, Label, Margin, Rect, Response, RichText, TextStyle, Ui, UiBuilder, Visuals,
};
use pixelferry::report::PathState;

/// Colour behind the picture, as red, green, blue and alpha.
pub const BEHIND: [f32; 4] = [12.0 / 255.0, 13.0 / 255.0, 17.0 / 255.0, 1.0];

/// Width of the labels before controls, in points.
pub const NAMES: f32 = 62.0;
/// Width of a control, in points.
pub const BOX: f32 = 206.0;

/// Background of a panel.
pub const PANEL: Color32 = Color32::from_rgb(22, 24, 31);
/// Background of sunken areas in a panel.
pub const WELL: Color32 = Color32::from_rgb(15, 16, 21);
/// Lines and frames.
pub const LINE: Color32 = Color32::from_rgb(48, 52, 64);
/// Normal text.
pub const TEXT: Color32 = Color32::from_rgb(214, 219, 230);
/// Less important text.
pub const DIM: Color32 = Color32::from_rgb(134, 142, 160);
/// Headings and highlighted values.
pub const ACCENT: Color32 = Color32::from_rgb(98, 178, 255);
/// Text about success.
pub const GOOD: Color32 = Color32::from_rgb(112, 214, 140);
/// Text of warnings.
pub const WARN: Color32 = Color32::from_rgb(255, 196, 92);
/// Text about failures.
pub const BAD: Color32 = Color32::from_rgb(255, 118, 108);

/// Sets the style of everything that the context lays out.
pub fn apply(context: &egui::Context) {
    context.set_visuals(Visuals {
        panel_fill: PANEL,
        window_fill: PANEL,
        extreme_bg_color: WELL,
        override_text_color: Some(TEXT),
        ..Visuals::dark()
    });
    context.all_styles_mut(|style| {
        style.text_styles = [
            (TextStyle::Heading, FontId::new(19.0, FontFamily::Proportional)),
            (TextStyle::Body, FontId::new(13.0, FontFamily::Proportional)),
            (TextStyle::Button, FontId::new(13.0, FontFamily::Proportional)),
            (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
            (TextStyle::Small, FontId::new(11.5, FontFamily::Proportional)),
        ]
        .into();
        style.spacing.item_spacing = egui::vec2(8.0, 5.0);
        style.spacing.button_padding = egui::vec2(9.0, 3.0);
        style.interaction.selectable_labels = false;
    });
}

/// Returns the frame of a panel.
pub fn panel() -> Frame {
    Frame::new().fill(PANEL).inner_margin(Margin::symmetric(14, 12))
}

/// Adds a heading between two groups.
pub fn section(ui: &mut Ui, title: &str) {
    ui.add_space(9.0);
    heading(ui, title);
}

/// Adds a heading at the top of a group.
pub fn heading(ui: &mut Ui, title: &str) {
    ui.label(RichText::new(title).strong().color(ACCENT));
    ui.add_space(1.0);
}

/// Lays out inside `rect` and clips to it.
pub fn at<R>(ui: &mut Ui, rect: Rect, contents: impl FnOnce(&mut Ui) -> R) -> R {
    let inside = |ui: &mut Ui| {
        ui.shrink_clip_rect(rect);
        contents(ui)
    };
    ui.scope_builder(UiBuilder::new().max_rect(rect), inside).inner
}

/// Adds text in a column of this width. Text that does not fit is cut and shown in a tooltip.
pub fn cell(ui: &mut Ui, width: f32, text: impl Into<RichText>) -> Response {
    let size = egui::vec2(width, 17.0);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    let text = text.into();
    let whole = text.text().to_owned();
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_width(width);
        ui.set_max_width(width);
        ui.add(Label::new(text).truncate())
    })
    .inner
    .on_hover_text(whole)
}

/// Returns the colour for a path's state.
pub fn colour_of(state: &PathState) -> Color32 {
    match state {
        PathState::Chosen { .. } => GOOD,
        PathState::Verified { .. } => TEXT,
        PathState::Demoted { .. } | PathState::Rejected { .. } | PathState::OpenFailed { .. } => BAD,
        _ => DIM,
    }
}
