//! Overlay of the picture: pixel grid, numbers in pixels, and lines of text.

use crate::chart::{BEHIND, Bars, EDGE, SMALL, TEXT, WARN};
use crate::elements::Element;
use crate::paint::gl::GlPainter;
use crate::paint::{PaintError, PanelMesh};
use crate::shown_array::ShownArray;
use egui::{Align2, Color32, Context, FontId, LayerId, Painter, Pos2, RawInput, Rect, Vec2};
use pixelferry::api::gl::GlDisplay;
use pixelferry::{Extent, Placement};
use pixelferry_look::{ABOVE, BELOW, Plane, Spot, Tone, Value};
use std::sync::Arc;

/// Pixels at least this many window pixels wide get a frame, or numbers.
const GRID: f32 = 8.0;
const NUMBERS: f32 = 56.0;
/// Height of text lines, points.
const LARGE: f32 = 13.0;
/// Smallest window side, in points, with text: text would hide all of a smaller window.
const LEAST: f32 = 200.0;
/// Width and height of the colour bar, points.
const BAR: Vec2 = Vec2::new(14.0, 120.0);
const LINE: Color32 = Color32::from_rgba_premultiplied(64, 64, 64, 128);

/// Lines of text.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Lines {
    /// Bottom left: what is under the pointer.
    pub pointer: String,
    /// Bottom right: how the array is shown.
    pub look: String,
    /// Top left: which of several arrays is shown.
    pub name: String,
    /// Below: what failed or was done.
    pub notice: String,
    /// Centre: the keys, if help is shown.
    pub help: Option<String>,
}

/// Numbers to write into a pixel.
pub struct Cell {
    middle: Pos2,
    text: String,
    colour: Color32,
}

pub struct Overlay {
    context: Context,
    painter: GlPainter,
}

/// How a picture's pixels are placed in a window.
#[derive(Debug, Clone, Copy)]
pub struct Pixels {
    placement: Placement,
    image: Extent,
    window: Extent,
}

impl Pixels {
    pub const fn new(placement: Placement, image: Extent, window: Extent) -> Self {
        Self { placement, image, window }
    }

    /// Window pixels per picture pixel.
    pub fn scale(&self) -> f32 {
        self.placement.width as f32 / self.image.width.max(1) as f32
    }

    /// Column and row of the picture at a position of the window.
    pub fn at(&self, place: [f64; 2]) -> Option<[u32; 2]> {
        pixel_at(self.placement, self.image, place)
    }

    /// Visible columns and rows, each with its first window pixel (the first whose centre is inside), and one entry
    /// after the last.
    fn edges(&self) -> [Vec<(u32, f32)>; 2] {
        let Placement { x, y, width, height } = self.placement;
        let along = |start: i32, length: u32, pixels: u32, window: u32| {
            let scale = f64::from(length) / f64::from(pixels.max(1));
            let first = (-f64::from(start) / scale).floor().clamp(0.0, f64::from(pixels)) as u32;
            let last = ((f64::from(window) - f64::from(start)) / scale).ceil().clamp(0.0, f64::from(pixels)) as u32;
            let edge = |n: u32| (f64::from(start) + f64::from(n) * scale - 0.5).ceil() as f32;
            (first..=last).map(|n| (n, edge(n))).collect()
        };
        [along(x, width, self.image.width, self.window.width), along(y, height, self.image.height, self.window.height)]
    }
}

/// Column and row of a picture of this size and placement at a position of the window.
pub fn pixel_at(placement: Placement, image: Extent, [x, y]: [f64; 2]) -> Option<[u32; 2]> {
    let along = |at: f64, start: i32, length: u32, pixels: u32| {
        let part = (at - f64::from(start)) / f64::from(length.max(1));
        (0.0..1.0).contains(&part).then_some((part * f64::from(pixels)) as u32)
    };
    let Placement { x: left, y: top, width, height } = placement;
    Some([along(x, left, width, image.width)?, along(y, top, height, image.height)?])
}

impl Overlay {
    /// The context of the display must be current.
    pub fn new(display: &Arc<GlDisplay>) -> Result<Self, PaintError> {
        let context = Context::default();
        // Lines lie on whole pixels.
        context.tessellation_options_mut(|options| options.feathering = false);
        Ok(Self { context, painter: GlPainter::new(display)? })
    }

    /// Draws into the bound framebuffer; `points` is the number of pixels per point of text.
    pub fn paint(
        &mut self,
        pixels: &Pixels,
        points: f32,
        cells: &[Cell],
        lines: &Lines,
        (bars, scale): (Option<&Bars<'_>>, Option<&Tone>),
    ) -> Result<(), PaintError> {
        let size = Vec2::new(pixels.window.width as f32, pixels.window.height as f32);
        let input = RawInput { screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)), ..RawInput::default() };
        let output = self.context.run(input, |context| {
            let painter = context.layer_painter(LayerId::background());
            if pixels.scale() >= GRID {
                grid(&painter, pixels);
            }
            for Cell { middle, text, colour } in cells {
                painter.text(*middle, Align2::CENTER_CENTER, text, FontId::monospace(SMALL * points), *colour);
            }
            bars.inspect(|bars| bars.paint(&painter, points));
            if size.min_elem() >= LEAST * points {
                let bottom = text(&painter, size, points, lines, bars.map_or(Pos2::new(size.x, 0.0), Bars::corner));
                scale.inspect(|tone| colour_bar(&painter, Pos2::new(size.x, bottom), points, tone));
            }
        });
        let painted = PanelMesh::of(&self.context, output, Rect::NOTHING);
        self.painter.paint(&painted, (pixels.window.width, pixels.window.height))
    }
}

/// Draws lines at the first row and column of window pixels of each pixel.
fn grid(painter: &Painter, pixels: &Pixels) {
    let [columns, rows] = pixels.edges();
    let ends = |edges: &[(u32, f32)]| Some([edges.first()?.1, edges.last()?.1]);
    let (Some([left, right]), Some([top, bottom])) = (ends(&columns), ends(&rows)) else { return };
    let line = |x: f32, y: f32, width: f32, height: f32| {
        painter.rect_filled(Rect::from_min_size(Pos2::new(x, y), Vec2::new(width, height)), 0.0, LINE);
    };
    columns.iter().for_each(|(_, x)| line(*x, top, 1.0, bottom - top));
    rows.iter().for_each(|(_, y)| line(left, *y, right - left, 1.0));
}

/// Returns the numbers of the visible pixels, with all channels of their elements, if pixels are large enough.
pub fn cells(
    pixels: &Pixels,
    points: f32,
    ShownArray { array, plane, whole, .. }: &ShownArray,
) -> pixelferry::Result<Vec<Cell>> {
    if pixels.scale() < NUMBERS * points {
        return Ok(Vec::new());
    }
    let [columns, rows] = pixels.edges();
    let places = rows.windows(2).flat_map(|y| columns.windows(2).map(move |x| (x, y)));
    let (middles, spots): (Vec<_>, Vec<_>) = places
        .filter_map(|(x, y)| {
            let middle = Pos2::new((x[0].1 + x[1].1 + 1.0) / 2.0, (y[0].1 + y[1].1 + 1.0) / 2.0);
            Some((middle, plane.spot(x[0].0, y[0].0)?))
        })
        .unzip();
    let (seen, all) = (array.elements(plane, &spots)?, array.elements(whole, &spots)?);
    let cell = |((middle, seen), all): ((Pos2, Option<Element>), Option<Element>)| {
        let text: Vec<_> = all?.values().iter().map(|value| format!("{value:.4}")).collect();
        Some(Cell { middle, text: text.join("\n"), colour: over(seen?.colour()) })
    };
    Ok(middles.into_iter().zip(seen).zip(all).filter_map(cell).collect())
}

/// Black or white, whichever contrasts with the colour.
fn over([red, green, blue, _]: [u8; 4]) -> Color32 {
    let light = 0.3 * f32::from(red) + 0.59 * f32::from(green) + 0.11 * f32::from(blue);
    if light > 140.0 { Color32::BLACK } else { Color32::WHITE }
}

/// Draws the colours of the range, its ends beside them, and beyond them those of marked numbers. `corner` is the bottom right corner of the free area.
fn colour_bar(painter: &Painter, corner: Pos2, points: f32, tone: &Tone) {
    let edge = EDGE * points;
    let bar = Rect::from_min_max(corner - (BAR * points) - Vec2::splat(edge), corner - Vec2::splat(edge));
    let ends = match tone.whole {
        Some((low, high)) => [low.to_string(), high.to_string()],
        None => [tone.range.0, tone.range.1].map(|end| format!("{:.5}", Value::Double(end))),
    };
    let font = FontId::monospace(SMALL * points);
    let [low, high] = ends.map(|end| painter.layout_no_wrap(end, font.clone(), TEXT));
    let left = bar.left() - low.size().x.max(high.size().x) - edge;
    painter.rect_filled(Rect::from_min_max(Pos2::new(left, bar.top()), bar.max).expand(edge), 0.0, BEHIND);
    let mut painted = bar;
    if tone.marks {
        painted = bar.shrink2(Vec2::new(0.0, edge));
        for ([red, green, blue, _], y) in [(ABOVE, bar.top()..=painted.top()), (BELOW, painted.bottom()..=bar.bottom())]
        {
            painter.rect_filled(Rect::from_x_y_ranges(bar.x_range(), y), 0.0, Color32::from_rgb(red, green, blue));
        }
    }
    let rows = painted.height().max(1.0) as u32;
    for row in 0..rows {
        let [red, green, blue, _] = tone.colour((row as f32 + 0.5) / rows as f32);
        let corner = painted.left_bottom() - Vec2::new(0.0, row as f32 + 1.0);
        let rect = Rect::from_min_size(corner, Vec2::new(bar.width(), 1.0));
        painter.rect_filled(rect, 0.0, Color32::from_rgb(red, green, blue));
    }
    painter.galley(Pos2::new(left, painted.top()), high, TEXT);
    painter.galley(Pos2::new(left, painted.bottom() - low.size().y), low, TEXT);
}

/// Draws lines of text and returns the top of those at the bottom right. Those at the top stay left of the histogram,
/// whose bottom left corner is `corner`, or below it in a narrow window.
fn text(painter: &Painter, size: Vec2, points: f32, lines: &Lines, corner: Pos2) -> f32 {
    let (font, edge) = (FontId::monospace(LARGE * points), EDGE * points);
    let (right, mut top) = if corner.x < size.x / 3.0 { (size.x, corner.y) } else { (corner.x, 0.0) };
    let place = |text: &str, colour: Color32, at: Align2, top: f32, right: f32, bottom: f32| {
        let galley = painter.layout(text.to_owned(), font.clone(), colour, (right - 2.0 * edge).max(1.0));
        let inside = Rect::from_min_max(Pos2::new(edge, top + edge), Pos2::new(right - edge, bottom - edge));
        let rect = at.align_size_within_rect(galley.size(), inside);
        painter.rect_filled(rect.expand(edge), 0.0, BEHIND);
        painter.galley(Pos2::new(rect.min.x.round(), rect.min.y.round()), galley, colour);
        rect.expand(edge)
    };
    let (mut bottom, mut free) = (size.y, size.y);
    // In a narrow window the texts are stacked.
    let wide = (lines.pointer.chars().count() + lines.look.chars().count()) as f32 * LARGE * points * 0.62 + 4.0 * edge
        < size.x;
    if !lines.look.is_empty() {
        let above = place(&lines.look, TEXT, Align2::RIGHT_BOTTOM, 0.0, size.x, bottom).top();
        (bottom, free) = (if wide { bottom } else { above }, above);
    }
    if !lines.pointer.is_empty() {
        bottom = place(&lines.pointer, TEXT, Align2::LEFT_BOTTOM, 0.0, size.x, bottom).top();
        free = if wide { free } else { bottom };
    }
    if !lines.name.is_empty() {
        top = place(&lines.name, TEXT, Align2::LEFT_TOP, top, right, bottom).bottom();
    }
    if !lines.notice.is_empty() {
        place(&lines.notice, WARN, Align2::LEFT_TOP, top, right, bottom);
    }
    if let Some(help) = &lines.help {
        place(help, TEXT, Align2::CENTER_CENTER, 0.0, size.x, size.y);
    }
    free
}

/// Describes a position in words.
pub fn named(spot: Spot, plane: &Plane) -> String {
    let image = if plane.grid.count > 1 { format!("picture {}, ", spot.image) } else { String::new() };
    format!("{image}row {}, column {}", spot.row, spot.column)
}

#[test]
fn edges_are_where_a_picture_has_its_pixels() {
    let (image, window) = (Extent::new(10, 4), Extent::new(100, 50));
    let pixels = Pixels::new(Placement { x: -15, y: 5, width: 100, height: 40 }, image, window);
    let [columns, rows] = pixels.edges();
    assert_eq!(columns.first(), Some(&(1, -5.0)));
    assert_eq!((columns.last(), rows.len(), rows.last()), (Some(&(10, 85.0)), 5, Some(&(4, 45.0))));
    for (n, edge) in columns.iter().filter(|(n, edge)| *n < 10 && *edge >= 0.0) {
        assert_eq!(pixels.at([f64::from(*edge) + 0.5, 20.0]), Some([*n, 1]));
    }
    assert_eq!((pixels.at([90.0, 20.0]), pixels.at([20.0, 2.0])), (None, None));
}
