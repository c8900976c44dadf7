//! The panel over the picture: sliders, time, and errors in the shader.

use crate::error::Fault;
use crate::slider::{Slider, SliderKind};
use egui::{
    Align2, Area, ComboBox, Context, Frame, Id, Label, RawInput, Rect, RichText, Slider as Rail, TextWrapMode, Ui, vec2,
};
use pixelferry_view::paint::PanelMesh;
use pixelferry_view::paint::theme::{BAD, DIM, NAMES, PANEL, TEXT, apply, cell};

/// Width of a slider, points.
const RAIL: f32 = 150.0;
/// Distance from the edges, points.
const EDGE: f32 = 10.0;

/// The panel and its state.
pub struct Panel {
    context: Context,
    pub is_shown: bool,
}

impl Default for Panel {
    fn default() -> Self {
        let context = Context::default();
        apply(&context);
        Self { context, is_shown: true }
    }
}

/// Everything that the panel shows.
pub struct PanelContent<'a> {
    /// Time, frame number, and how the picture is computed.
    pub line: String,
    pub sliders: &'a [Slider],
    pub values: &'a mut [f32],
    pub faults: &'a [Fault],
    /// Messages about streams.
    pub said: &'a [String],
}

impl Panel {
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns whether the panel uses the pointer.
    pub fn has_pointer(&self) -> bool {
        self.context.wants_pointer_input() || self.context.is_pointer_over_area()
    }

    /// Lays out the panel and tessellates it.
    pub fn run(&self, input: RawInput, shown: &mut PanelContent<'_>) -> (PanelMesh, egui::PlatformOutput) {
        let is_shown = self.is_shown;
        let mut output = self.context.run(input, |context| {
            if is_shown {
                sliders(context, shown);
            }
            if !shown.faults.is_empty() {
                faults(context, shown.faults);
            }
        });
        let platform = std::mem::take(&mut output.platform_output);
        (PanelMesh::of(&self.context, output, Rect::NOTHING), platform)
    }
}

fn frame() -> Frame {
    Frame::new().fill(PANEL.gamma_multiply(0.85)).inner_margin(EDGE).corner_radius(4.0)
}

fn sliders(context: &Context, shown: &mut PanelContent<'_>) {
    let corner = Area::new(Id::new("sliders")).anchor(Align2::RIGHT_TOP, vec2(-EDGE, EDGE));
    corner.show(context, |ui| {
        frame().show(ui, |ui| {
            ui.spacing_mut().slider_width = RAIL;
            let line = RichText::new(&shown.line).color(DIM).monospace();
            ui.add(Label::new(line).wrap_mode(TextWrapMode::Extend));
            for said in shown.said {
                ui.label(RichText::new(said).color(DIM));
            }
            for (slider, value) in shown.sliders.iter().zip(shown.values.iter_mut()) {
                ui.horizontal(|ui| {
                    cell(ui, NAMES, RichText::new(&slider.name).color(TEXT));
                    let [least, most] = slider.limits;
                    match slider.kind {
                        _ if !slider.menu.is_empty() => menu(ui, slider, value),
                        SliderKind::Float => _ = ui.add(Rail::new(value, least..=most)),
                        SliderKind::Int => _ = ui.add(Rail::new(value, least..=most).step_by(1.0)),
                        // The shader sees it for one frame.
                        SliderKind::Event => *value = f32::from(ui.button("now").clicked()).max(*value),
                        SliderKind::Bool => {
                            let mut is_on = *value != 0.0;
                            if ui.checkbox(&mut is_on, "").changed() {
                                *value = f32::from(is_on);
                            }
                        }
                    }
                });
            }
        });
    });
}

fn menu(ui: &mut Ui, slider: &Slider, value: &mut f32) {
    let label = slider.menu.iter().find(|(own, _)| own == value).map_or("", |(_, label)| label);
    ComboBox::from_id_salt(&slider.name).selected_text(label).show_ui(ui, |ui| {
        for (own, label) in &slider.menu {
            ui.selectable_value(value, *own, label);
        }
    });
}

fn faults(context: &Context, faults: &[Fault]) {
    let width = (context.content_rect().width() - 4.0 * EDGE).max(100.0);
    Area::new(Id::new("faults")).anchor(Align2::LEFT_BOTTOM, vec2(EDGE, -EDGE)).interactable(false).show(
        context,
        |ui| {
            ui.set_max_width(width);
            frame().show(ui, |ui| {
                ui.set_max_width(width);
                for fault in faults {
                    ui.label(RichText::new(fault.to_string()).color(BAD).monospace());
                }
                ui.label(RichText::new("the picture is from the previous version").color(DIM));
            });
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::epaint::Primitive;

    /// Without a slider nothing else makes the panel wide.
    #[test]
    fn the_line_of_time_stays_one_line_without_sliders() {
        let panel = Panel::default();
        let height = |line: &str| {
            let (line, screen) = (line.to_owned(), Rect::from_min_size(egui::Pos2::ZERO, vec2(800.0, 450.0)));
            let input = || RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let mut shown = PanelContent { line, sliders: &[], values: &mut [], faults: &[], said: &[] };
            // The first run finds out the size.
            panel.run(input(), &mut shown);
            let (painted, _) = panel.run(input(), &mut shown);
            let tops = painted.primitives.iter().filter_map(|clipped| match &clipped.primitive {
                Primitive::Mesh(mesh) => Some(mesh.calc_bounds()),
                Primitive::Callback(_) => None,
            });
            tops.reduce(|all, one| all.union(one)).expect("nothing is drawn").height()
        };
        let (short, long) = (height("0.01 s"), height("26.67 s, frame 1600, 562 a second"));
        assert!((short - long).abs() < 1.0, "{short} points for a word, {long} for the line");
    }
}
