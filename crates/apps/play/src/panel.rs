//! The panel over the picture: sliders, time, and errors in the shader.

use crate::error::Fault;
use crate::slider::{Slider, SliderKind};
use egui::{
    Align2, Area, ComboBox, Context, Frame, Id, Label, RawInput, Rect, RichText, Slider as Rail, TextWrapMode, Ui, vec2,
};
use pixelferry_view::paint::PanelMesh;
use pixelferry_view::paint::theme::{BAD, DIM, NAMES, PANEL, TEXT, cell};

/// Width of a slider, points.
const RAIL: f32 = 150.0;
/// Distance from the edges, points.
const EDGE: f32 = 10.0;

/// Lays out the panel unless it is hidden, and faults, and tessellates them. `line` describes time and frame, and `said`
/// are messages about streams.
pub fn panel(
    context: &Context,
    input: RawInput,
    is_shown: bool,
    (line, said): (&str, &[String]),
    (sliders, values): (&[Slider], &mut [f32]),
    faults: &[Fault],
) -> (PanelMesh, egui::PlatformOutput) {
    let mut output = context.run(input, |context| {
        if is_shown {
            show_sliders(context, (line, said), (sliders, values));
        }
        if !faults.is_empty() {
            show_faults(context, faults);
        }
    });
    let platform = std::mem::take(&mut output.platform_output);
    (PanelMesh::of(context, output, Rect::NOTHING), platform)
}

fn frame() -> Frame {
    Frame::new().fill(PANEL.gamma_multiply(0.85)).inner_margin(EDGE).corner_radius(4.0)
}

fn show_sliders(context: &Context, (line, said): (&str, &[String]), (sliders, values): (&[Slider], &mut [f32])) {
    let corner = Area::new(Id::new("sliders")).anchor(Align2::RIGHT_TOP, vec2(-EDGE, EDGE));
    corner.show(context, |ui| {
        frame().show(ui, |ui| {
            ui.spacing_mut().slider_width = RAIL;
            let line = RichText::new(line).color(DIM).monospace();
            ui.add(Label::new(line).wrap_mode(TextWrapMode::Extend));
            for said in said {
                ui.label(RichText::new(said).color(DIM));
            }
            for (slider, value) in sliders.iter().zip(values.iter_mut()) {
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

fn show_faults(context: &Context, faults: &[Fault]) {
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
        let context = Context::default();
        let height = |line: &str| {
            let screen = Rect::from_min_size(egui::Pos2::ZERO, vec2(800.0, 450.0));
            let input = || RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let run = || panel(&context, input(), true, (line, &[]), (&[], &mut []), &[]).0;
            // The first run finds out the size.
            run();
            let painted = run();
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
