//! The histogram over the picture. The user can drag the ends of the range in it.

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Vec2};
use pixelferry::Extent;
use pixelferry::api::gl::winit::event::{ElementState, MouseButton, WindowEvent};
use pixelferry_look::{Counts, Value};
use std::time::{Duration, Instant};

/// Height of small text and margin around texts in points, and their colours.
pub const SMALL: f32 = 11.0;
pub const EDGE: f32 = 6.0;
pub const BEHIND: Color32 = Color32::from_rgba_premultiplied(11, 12, 16, 216);
pub const TEXT: Color32 = Color32::from_rgb(214, 219, 230);
pub const WARN: Color32 = Color32::from_rgb(255, 196, 92);
/// Width and height of the bars in points.
const SIZE: Vec2 = Vec2::new(320.0, 96.0);
const LINES: f32 = 3.0;
/// Distance in points within which the mouse grabs a line.
const NEAR: f32 = 8.0;
/// Longest time between the presses of a double click.
const TWICE: Duration = Duration::from_millis(400);
/// If the numbers spread further than this many widths of the range on a side, the histogram is cut there.
const ROOM: f64 = 2.0;
const BAR: Color32 = Color32::from_rgb(120, 132, 158);

/// What the pointer does in the histogram.
#[derive(Debug, PartialEq)]
pub enum ChartGesture {
    /// The pointer is outside.
    Away,
    /// The pointer is inside and changes nothing.
    Here,
    /// Moves an end of the range (0 is lower, 1 is upper) to a number.
    Moves(usize, f64),
    /// Restores the initial range.
    Resets,
}

#[derive(Default)]
pub struct Chart {
    pub is_on: bool,
    pub is_log: bool,
    place: Option<ChartLayout>,
    /// End of the range that is being dragged.
    drag: Option<usize>,
    pressed: Option<(Instant, Pos2)>,
}

/// Area of the histogram in the window, and the numbers at its left and right edges.
#[derive(Debug, Clone, Copy)]
struct ChartLayout {
    all: Rect,
    bars: Rect,
    axis: (f64, f64),
    points: f32,
}

impl ChartLayout {
    fn x(&self, number: f64) -> f32 {
        let (low, high) = self.axis;
        // Divide by 2 first, because the difference may overflow.
        let part = (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        self.bars.left() + self.bars.width() * part.clamp(0.0, 1.0) as f32
    }

    fn number(&self, x: f32) -> f64 {
        let part = f64::from((x - self.bars.left()) / self.bars.width()).clamp(0.0, 1.0);
        self.axis.0 * (1.0 - part) + self.axis.1 * part
    }
}

impl Chart {
    /// Shows or hides the histogram.
    pub fn toggle(&mut self) {
        *self = Self { is_on: !self.is_on, is_log: self.is_log, ..Self::default() };
    }

    /// Ends a drag.
    pub fn release(&mut self) {
        self.drag = None;
    }

    /// Computes the area and returns the numbers at its left and right edges. They stay fixed during a drag.
    pub fn lay(&mut self, window: Extent, points: f32, range: (f64, f64), extent: (f64, f64)) -> (f64, f64) {
        let dragged = self.place.filter(|_| self.drag.is_some()).map(|place| place.axis);
        let axis = dragged.unwrap_or_else(|| axis(range, extent));
        let (edge, right) = (EDGE * points, window.width as f32);
        let width = (SIZE.x * points).min(right - 4.0 * edge).max(1.0).floor();
        let bars = Rect::from_min_size(Pos2::new(right - edge - width, edge), Vec2::new(width, SIZE.y * points));
        let mut all = bars.expand(edge);
        all.max.y += LINES * SMALL * 1.4 * points;
        self.place = Some(ChartLayout { all, bars, axis, points });
        axis
    }

    /// Handles an event with the pointer at `at`, for the current range.
    pub fn follow(&mut self, event: &WindowEvent, at: Option<[f64; 2]>, range: (f64, f64)) -> ChartGesture {
        let Some(place) = self.place.filter(|_| self.is_on) else { return ChartGesture::Away };
        let near = NEAR * place.points;
        match event {
            WindowEvent::MouseInput { state: ElementState::Pressed, button: MouseButton::Left, .. } => {
                let at = at.map(|[x, y]| Pos2::new(x as f32, y as f32));
                let Some(at) = at.filter(|at| place.all.contains(*at)) else { return ChartGesture::Away };
                let before = self.pressed.replace((Instant::now(), at));
                if before.is_some_and(|(when, before)| when.elapsed() < TWICE && before.distance(at) < near) {
                    self.pressed = None;
                    return ChartGesture::Resets;
                }
                let away = [range.0, range.1].map(|end| (place.x(end) - at.x).abs());
                // If both lines are in one place, take the one on the pointer's side.
                let is_upper = if away[0] == away[1] { at.x > place.x(range.1) } else { away[1] < away[0] };
                self.drag = (away[usize::from(is_upper)] <= near).then_some(is_upper.into());
                ChartGesture::Here
            }
            WindowEvent::MouseInput { state: ElementState::Released, button: MouseButton::Left, .. } => {
                self.drag.take().map_or(ChartGesture::Away, |_| ChartGesture::Here)
            }
            WindowEvent::CursorMoved { position, .. } => {
                self.drag.map_or(ChartGesture::Away, |end| ChartGesture::Moves(end, place.number(position.x as f32)))
            }
            _ => ChartGesture::Away,
        }
    }

    /// Returns bars for counts over the numbers that [`Chart::lay`] returned.
    pub fn bars<'a>(&self, counts: &'a Counts, range: (f64, f64)) -> Option<Bars<'a>> {
        Some(Bars { place: self.place.filter(|_| self.is_on)?, counts, range, is_log: self.is_log })
    }
}

/// Returns the numbers to draw: the range and all numbers, but only those around the range if others are much further
/// away.
fn axis(range: (f64, f64), extent: (f64, f64)) -> (f64, f64) {
    let (low, high) = (range.0.min(range.1), range.0.max(range.1));
    let (least, most) = (low.min(extent.0), high.max(extent.1));
    let room = (high - low) * ROOM;
    if room > 0.0 && (most - least) > 10.0 * room {
        return (least.max(low - room), most.min(high + room));
    }
    // Add a margin, so that ends can be moved outwards.
    let apart = if least < most { most / 16.0 - least / 16.0 } else { (least.abs() / 4.0).max(0.5) };
    ((least - apart).max(f64::MIN), (most + apart).min(f64::MAX))
}

pub struct Bars<'a> {
    place: ChartLayout,
    counts: &'a Counts,
    range: (f64, f64),
    is_log: bool,
}

impl Bars<'_> {
    /// Bottom left corner.
    pub fn corner(&self) -> Pos2 {
        self.place.all.left_bottom()
    }

    pub fn paint(&self, painter: &Painter, points: f32) {
        let ChartLayout { all, bars, axis, .. } = self.place;
        painter.rect_filled(all, 0.0, BEHIND);
        let (columns, counts) = (bars.width() as usize, self.counts.inside.counts());
        let edge = |column: usize| column * counts.len() / columns.max(1);
        let sums = (0..columns).map(|column| counts[edge(column)..edge(column + 1)].iter().sum::<u64>() as f64);
        let heights: Vec<f64> = sums.map(|sum| if self.is_log { sum.ln_1p() } else { sum }).collect();
        let most = heights.iter().copied().fold(0.0, f64::max);
        for (column, height) in heights.iter().enumerate().filter(|(_, height)| **height > 0.0) {
            // A single number among millions must be visible, too.
            let height = (bars.height() * (height / most) as f32).round().max(1.0);
            let corner = Pos2::new(bars.left() + column as f32, bars.bottom() - height);
            painter.rect_filled(Rect::from_min_size(corner, Vec2::new(1.0, height)), 0.0, BAR);
        }
        for end in [self.range.0, self.range.1] {
            let middle = self.place.x(end).floor().clamp(bars.left(), bars.right() - points);
            painter.rect_filled(Rect::from_x_y_ranges(middle..=middle + points, bars.y_range()), 0.0, WARN);
        }
        let font = FontId::monospace(SMALL * points);
        let below = bars.bottom() + 2.0 * points;
        for (number, at, x) in [(axis.0, Align2::LEFT_TOP, bars.left()), (axis.1, Align2::RIGHT_TOP, bars.right())] {
            painter.text(Pos2::new(x, below), at, format!("{:.5}", Value::Double(number)), font.clone(), TEXT);
        }
        let words = painter.layout(words(self.counts), font, TEXT, bars.width());
        painter.galley(Pos2::new(bars.left(), (below + SMALL * 1.4 * points).round()), words, TEXT);
    }
}

/// Describes counts in words.
fn words(counts: &Counts) -> String {
    let Counts { inside, below, above, infinite: [minus, plus], nan } = counts;
    let outside = [(below, "below"), (above, "above"), (nan, "NaN"), (plus, "inf"), (minus, "-inf")];
    let outside = outside.iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!(", {count} {what}"));
    format!("{} drawn{}", inside.counts().iter().sum::<u64>(), outside.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry_look::{Layout, Look, MemoryLocation as Where, Number, Plane, Raw};

    #[test]
    fn what_is_drawn_holds_the_range_and_what_is_near() {
        assert_eq!(axis((0.0, 255.0), (10.0, 200.0)), (-255.0 / 16.0, 255.0 + 255.0 / 16.0));
        assert_eq!(axis((1.0, 0.0), (-4.0, 4.0)), (-4.5, 4.5));
        assert_eq!(axis((0.0, 1.0), (0.5, 1e9)), (0.0, 3.0));
        assert_eq!(axis((5.0, 5.0), (5.0, 5.0)), (3.75, 6.25));
        let all = axis((0.0, 1.0), (f64::MIN, f64::MAX));
        assert_eq!(all, (-2.0, 3.0));
        let mut chart = Chart { is_on: true, ..Chart::default() };
        chart.lay(Extent::new(640, 480), 1.0, (f64::MIN, f64::MAX), (f64::MIN, f64::MAX));
        let place = chart.place.unwrap();
        assert_eq!([place.x(f64::MIN), place.x(f64::MAX)], [place.bars.left(), place.bars.right()]);
        assert!(place.number(place.bars.center().x).abs() < 1e300 && place.number(f32::MAX) == f64::MAX);
    }

    #[test]
    fn what_is_no_number_is_said() {
        let numbers = [f32::NAN, 1.0, f32::INFINITY, -9.0, 0.5, f32::NEG_INFINITY, 1.5, 0.0];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let number = Number::of_name("float32").unwrap();
        let (address, place) = (bytes.as_ptr().addr(), Where::Host);
        let raw = Raw { address, shape: vec![2, 4], strides: None, number, place };
        let plane = Plane::new(&raw, Layout::GUESSED, pixelferry::PixelFormat::Rgba8, &Look::default()).unwrap();
        assert_eq!(words(&plane.counts(&bytes, 0.0, 1.0).unwrap()), "3 drawn, 1 below, 1 above, 1 NaN, 1 inf, 1 -inf");
    }
}
