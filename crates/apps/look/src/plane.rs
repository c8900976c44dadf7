//! A picture's layout: where its pixels are, how they are stored, and how they become colours.

use crate::element::{Element, ElementRow};
use crate::layout::{Layout, guesses};
use crate::look::{Channel, ComplexPart, Look, Pair, Range, Tone};
use crate::refusal::Refusal;
use crate::rows::Numbers;
use crate::span::{MemoryLocation, Raw, Span};
use pixelferry::PixelFormat;
use std::f64::consts::PI;

/// Pictures in a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Number of pictures.
    pub count: u32,
    /// Number of pictures per row of the grid.
    pub columns: u32,
    /// Bytes from one picture to the next.
    pub stride: i64,
    /// Width of each picture in pixels.
    pub width: u32,
    /// Height of each picture in pixels.
    pub height: u32,
}

/// An array as rows of pixels. This is only a description: readers must make sure that the memory is valid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// The array's memory. Its first number is that of pixel (0, 0).
    pub span: Span,
    /// Width of the whole grid in pixels.
    pub width: u32,
    /// Height of the whole grid in pixels.
    pub height: u32,
    /// Number of channels, 1 to 4.
    pub channels: u32,
    /// Bytes from one row, column and channel to the next.
    pub strides: [i64; 3],
    /// Pictures in the grid.
    pub grid: Grid,
    /// Storage of a number, or of half of one.
    pub element: Element,
    /// Set if two elements make one number.
    pub pair: Option<Pair>,
    /// Requested range; [`Plane::measured`] determines it if it depends on the numbers.
    pub range: Range,
    /// How numbers become colours.
    pub tone: Tone,
    /// Names of the number type, and of the order of the axes.
    named: (&'static str, &'static str),
}

impl Plane {
    /// Describes an array as a picture of that format.
    ///
    /// # Errors
    /// [`Refusal`], with the line to write instead.
    pub fn new(raw: &Raw, layout: Layout, format: PixelFormat, look: &Look) -> Result<Self, Refusal> {
        look.check()?;
        let row = raw.number.row()?;
        let shape = &raw.shape;
        let axes = layout.of(shape, &raw.strides()?)?;
        let wrong = |what: &str| {
            let name = format.name().to_lowercase();
            let (hwc, chw) = match format.channels() {
                1 => ("(height, width), (height, width, 1)", "1"),
                2 => ("(height, width, 2)", "2"),
                _ => ("(height, width), (height, width, 1 to 4)", "1 to 4"),
            };
            let chw = format!("with layout=\"CHW\", ({chw}, height, width)");
            Refusal::Shape(format!("an array of shape {shape:?} {what}; format {name} shows {hwc} and, {chw}"))
        };
        if axes.sides.iter().any(|side| *side <= 0) {
            return Err(wrong("is empty"));
        }
        let [count, height, width, mut channels] = axes.sides;
        let [image, y, x, channel] = axes.strides;
        let (element, bytes) = (row.element, row.element.bytes());
        let mut span = Span::new(raw, &axes.sides, &axes.strides, row.code.1 / 8)?;
        let mut pair = row.complex.then_some(Pair::Magnitude);
        match look.channel {
            Some(Channel::Number(number)) => {
                if i64::from(number) >= channels {
                    let what =
                        format!("read as {} has {channels} channel(s), so it has no channel={number}", axes.layout);
                    return Err(wrong(&format!(
                        "{what}; if one axis holds channels, set layout=\"HWC\" or layout=\"CHW\""
                    )));
                }
                span.first = span.first.wrapping_add_signed((i64::from(number) * channel) as isize);
                channels = 1;
            }
            Some(Channel::Part(_)) if !row.complex => {
                return Err(Refusal::Shape(format!(
                    "channel: {} numbers have no real or imaginary part; only complex numbers do",
                    row.name
                )));
            }
            Some(Channel::Part(ComplexPart::Of(of))) => pair = Some(of),
            Some(Channel::Part(part)) => {
                pair = None;
                if part == ComplexPart::Imaginary {
                    span.first += bytes;
                }
            }
            None => {}
        }
        let taken = match format.channels() {
            1 => 1..=1,
            2 => 2..=2,
            _ => 1..=4,
        };
        if !taken.contains(&channels) {
            return Err(wrong(&format!("has {channels} channels; select one, for example with channel=0")));
        }
        if look.colormap.is_some_and(|map| map.colours().is_some()) && (channels, format.channels()) != (1, 4) {
            return Err(Refusal::Shape(if channels == 1 {
                "colormap: needs a viewer with a colour format, such as rgba8".into()
            } else {
                format!("colormap: needs one channel, not {channels}; select one, for example with channel=0")
            }));
        }
        let side =
            |n: i64| u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(|| wrong("is too large"));
        let (all, columns) = (axes.size(), side(axes.columns())?);
        let grid = Grid { count: side(count)?, columns, stride: image, width: side(width)?, height: side(height)? };
        let (range, tone) = tone(row, pair, channels, look);
        let plane = Self {
            span,
            width: side(all[0])?,
            height: side(all[1])?,
            channels: channels as u32,
            strides: [y, x, channel],
            grid,
            element,
            pair,
            range,
            tone,
            named: (row.name, axes.layout),
        };
        plane.check_alignment()?;
        Ok(plane)
    }

    /// Describes an array as data of that format, without any adjustment.
    ///
    /// # Errors
    /// Those of [`Plane::new`], and [`Refusal::Dtype`] for a number type without a fixed range.
    pub fn data(raw: &Raw, layout: Layout, format: PixelFormat) -> Result<Self, Refusal> {
        let plane = Self::new(raw, layout, format, &Look::default())?;
        if plane.range.fixed().is_some() {
            return Ok(plane);
        }
        let name = plane.named.0;
        Err(Refusal::Dtype(format!(
            "an array of {name} cannot be written as colours; convert it to uint8 or uint16 (whole range), or float16 \
             or float32 (0 to 1), for example x.astype('uint8') or x.to(torch.uint8) if the numbers are 0 to 255"
        )))
    }

    /// Refuses a picture with sides above the display's limit of `most` pixels.
    ///
    /// # Errors
    /// [`Refusal::Shape`].
    pub fn check_sides(&self, most: u32) -> Result<(), Refusal> {
        let (width, height) = (self.width, self.height);
        if width.max(height) <= most {
            return Ok(());
        }
        Err(Refusal::Shape(format!(
            "the picture has {width}x{height} pixels, but this display shows at most {most} a side: show a part of the \
             array, or save all of it (--save x.png, in Python save=\"x.png\")"
        )))
    }

    /// GPUs read only aligned numbers.
    fn check_alignment(&self) -> Result<(), Refusal> {
        if self.span.place == MemoryLocation::Host {
            return Ok(());
        }
        let bytes = self.element.bytes();
        let first = self.span.start + self.span.first;
        let mut steps = self.strides.into_iter().chain([self.grid.stride]);
        if first.is_multiple_of(bytes) && steps.all(|step| step % bytes as i64 == 0) {
            return Ok(());
        }
        Err(Refusal::Shape(format!("the array's numbers are not aligned to {bytes} bytes; show a copy of it")))
    }

    /// The numbers of the first picture.
    pub fn numbers<'a>(&self, bytes: &'a [u8]) -> Numbers<'a> {
        let Self { span, strides, channels, element, pair, tone, .. } = *self;
        Numbers { bytes, first: span.first as i64, strides, channels, element, pair, tone }
    }

    /// Name of the number type.
    pub const fn number_name(&self) -> &'static str {
        self.named.0
    }

    /// Describes the array and how it is shown, in one line.
    pub fn summary(&self) -> String {
        let ((numbers, layout), Grid { count, columns, width, height, .. }) = (self.named, self.grid);
        // The last axis may be channels, but more than the guesses accept.
        let is_bands = layout == "NHW" && width < count.min(height) && width <= 16;
        let layout = if is_bands { "NHW (bands: layout=HWC, and channel)" } else { layout };
        let many = if count > 1 { format!(", {count} in {columns} columns") } else { String::new() };
        let measured = if self.range.fixed().is_some() { "" } else { " (measured)" };
        format!("{numbers} as {layout}, {width}x{height}{many}; {}{measured}", self.tone)
    }

    /// Describes the array and how it is shown, with the table of guesses.
    pub fn explain(&self) -> String {
        format!("  array: {}\n{}", self.summary(), guesses())
    }
}

/// Returns the range to show, and the tone as far as it is known.
fn tone(row: &ElementRow, pair: Option<Pair>, channels: i64, look: &Look) -> (Range, Tone) {
    let value = |low, high| Range::Between(crate::End::Value(low), crate::End::Value(high));
    let range = match (look.range, pair, row.white) {
        (Range::OfType | Range::OfData, Some(Pair::Phase), _) => value(-PI, PI),
        (Range::OfData, None, Some(1.0)) if channels == 1 && row.element != Element::Bool => Range::OfData,
        (Range::OfType | Range::OfData, None, Some(white)) => value(0.0, white),
        (Range::OfType | Range::OfData, ..) => Range::MINMAX,
        (asked, ..) => asked,
    };
    let plain = [Range::OfType, Range::OfData].map(|range| Look { range, ..Look::default() });
    let odd = !plain.contains(look) || range.fixed().is_none();
    (range, Tone::new(look, range.fixed().unwrap_or((0.0, 1.0)), odd))
}
