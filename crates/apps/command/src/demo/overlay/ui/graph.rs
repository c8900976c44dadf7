//! Graph of the most recent frame times.

use super::theme::{ACCENT, DIM, LINE, TEXT, WARN, WELL};
use crate::demo::overlay::times::{Frame, KEPT, Times};
use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, RichText, Sense, Shape, Stroke, Ui};

const HEIGHT: f32 = 84.0;
/// Width of the labels of the scale, points.
const SCALE: f32 = 46.0;

pub fn show(ui: &mut Ui, times: &Times) {
    let [p50, p99] = times.p50_p99(|frame| frame.interval_ms);
    ui.horizontal(|ui| {
        figure(ui, "p50", p50, ACCENT);
        figure(ui, "p99", p99, WARN);
        if p50 > 0.0 {
            ui.label(RichText::new(format!("{:.*} frames/s", usize::from(p50 > 100.0), 1e3 / p50)).color(DIM));
        }
    });
    let size = egui::vec2(ui.available_width(), HEIGHT);
    let (whole, _) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(whole);
    painter.rect_filled(whole, 4.0, WELL);
    let area = Rect { min: whole.min + egui::vec2(SCALE, 8.0), max: whole.max - egui::vec2(8.0, 8.0) };
    let top = nice(times.frames().map(|f| f.interval_ms).fold(0.0, f64::max).min(1.25 * p99));
    for part in [0.0, 0.5, 1.0] {
        let y = egui::lerp(area.bottom()..=area.top(), part as f32);
        painter.hline(area.x_range(), y, Stroke::new(1.0, LINE));
        let label = short(top * part);
        painter.text(Pos2::new(area.left() - 5.0, y), Align2::RIGHT_CENTER, label, FontId::proportional(10.5), DIM);
    }
    curve(&painter, area, times, top, DIM, |frame| frame.work_ms);
    curve(&painter, area, times, top, ACCENT, |frame| frame.interval_ms);
    for (value, colour) in [(p50, ACCENT), (p99, WARN)] {
        if value > 0.0 && value <= top {
            let y = height(area, value, top);
            let ends = [Pos2::new(area.left(), y), Pos2::new(area.right(), y)];
            painter.extend(Shape::dashed_line(&ends, Stroke::new(1.0, colour.gamma_multiply(0.8)), 4.0, 4.0));
        }
    }
    let [work, _] = times.p50_p99(|frame| frame.work_ms);
    let legend = format!("last {} frames; grey: compute and hand-over, {}", times.frames().len(), digits(work));
    ui.label(RichText::new(legend).small().color(DIM));
}

fn figure(ui: &mut Ui, name: &str, ms: f64, colour: Color32) {
    ui.label(RichText::new(name).color(colour));
    ui.label(RichText::new(digits(ms)).monospace().color(TEXT));
    ui.add_space(6.0);
}

fn height(area: Rect, ms: f64, top: f64) -> f32 {
    egui::lerp(area.bottom()..=area.top(), (ms / top).clamp(0.0, 1.0) as f32)
}

/// Draws a curve with the newest frame at the right.
fn curve(painter: &Painter, area: Rect, times: &Times, top: f64, colour: Color32, of: impl Fn(Frame) -> f64) {
    let step = area.width() / (KEPT - 1) as f32;
    let first = area.right() - step * times.frames().len().saturating_sub(1) as f32;
    let points = times.frames().enumerate();
    let points = points.map(|(n, frame)| Pos2::new(first + step * n as f32, height(area, of(frame), top))).collect();
    painter.add(Shape::line(points, Stroke::new(1.2, colour)));
}

/// Rounds up to the next of 1, 2, 5, 10, 20, ... milliseconds or their fractions.
fn nice(ms: f64) -> f64 {
    let ms = ms.max(0.01) * 1.05;
    let decade = 10f64.powf(ms.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|step| step * decade).into_iter().find(|top| *top >= ms).unwrap_or(10.0 * decade)
}

/// Formats a label of the scale.
fn short(ms: f64) -> String {
    match ms {
        1000.0.. => format!("{} s", ms / 1e3),
        _ => format!("{ms} ms"),
    }
}

/// Formats a time in milliseconds with three digits.
fn digits(ms: f64) -> String {
    let decimals = if ms < 10.0 { 2 } else { usize::from(ms < 100.0) };
    format!("{ms:.decimals$} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_round_numbers() {
        assert_eq!([0.9, 1.0, 16.7, 48.0, 333.0].map(nice), [1.0, 2.0, 20.0, 100.0, 500.0]);
        assert_eq!([0.0, 2.5, 25.0, 2500.0].map(short), ["0 ms", "2.5 ms", "25 ms", "2.5 s"]);
        assert_eq!([2.0, 16.66, 487.6].map(digits), ["2.00 ms", "16.7 ms", "488 ms"]);
    }
}
