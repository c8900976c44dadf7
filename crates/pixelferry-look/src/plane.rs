//! Layout of a picture: the place of its pixels, their storage, and how they become colours.

use crate::element::{Element, Row};
use crate::layout::{Layout, guesses};
use crate::look::{Channel, Look, Pair, Part, Range, Tone};
use crate::refusal::Refusal;
use crate::rows::Numbers;
use crate::span::{Place, Raw, Span};
use pixelferry::PixelFormat;
use std::f64::consts::PI;

/// Pictures beside each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Pictures.
    pub count: u32,
    /// Pictures beside each other.
    pub columns: u32,
    /// Bytes from one picture to the next.
    pub stride: i64,
    /// Pixels of a row of each.
    pub width: u32,
    /// Rows of each.
    pub height: u32,
}

/// An array as rows of pixels. Only a description: whoever reads the memory sees to it that it is there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Its first number is that of pixel (0, 0).
    pub span: Span,
    /// Pixels of a row of all.
    pub width: u32,
    /// Rows of all.
    pub height: u32,
    /// 1 to 4.
    pub channels: u32,
    /// Bytes from one row, column and channel to the next.
    pub strides: [i64; 3],
    /// Pictures that it is made of.
    pub grid: Grid,
    /// Storage of a number, or of half a one.
    pub element: Element,
    /// Two elements make one number.
    pub pair: Option<Pair>,
    /// Range that was asked for; [`Plane::measured`] finds it where it depends on the numbers.
    pub range: Range,
    /// How numbers become colours.
    pub tone: Tone,
    /// Name of the numbers, and order of the axes.
    named: (&'static str, &'static str),
}

impl Plane {
    /// An array as a picture of that format.
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
            Refusal::Shape(format!("an array of shape {shape:?} {what}; shown as format {name} are {hwc} and, {chw}"))
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
                    let what = format!("as {} has no channel={number} (channels: {channels})", axes.layout);
                    return Err(wrong(&format!("{what}: bands are named by layout=\"HWC\" or layout=\"CHW\"")));
                }
                span.first = span.first.wrapping_add_signed((i64::from(number) * channel) as isize);
                channels = 1;
            }
            Some(Channel::Part(_)) if !row.complex => {
                return Err(Refusal::Shape(format!("channel: {} has no parts; complex numbers have", row.name)));
            }
            Some(Channel::Part(Part::Of(of))) => pair = Some(of),
            Some(Channel::Part(part)) => {
                pair = None;
                if part == Part::Imaginary {
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
            return Err(wrong(&format!("has {channels} channels, of which channel=0 or another is shown")));
        }
        if look.colormap.is_some_and(|map| map.colours().is_some()) && (channels, format.channels()) != (1, 4) {
            let line = "channel=0 or another, and a viewer of a format with colours";
            return Err(Refusal::Shape(format!(
                "colormap: colours are for one channel, here are {channels}; give {line}"
            )));
        }
        let side =
            |n: i64| u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(|| wrong("is too large"));
        let (all, columns) = (axes.size(), side(axes.columns())?);
        let grid = Grid { count: side(count)?, columns, stride: image, width: side(width)?, height: side(height)? };
        let (range, tone) = tone(row, pair, look);
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

    /// An array as data of that format, with nothing made brighter or darker.
    ///
    /// # Errors
    /// Those of [`Plane::new`], and [`Refusal::Dtype`] for numbers that stand for nothing from 0 to 1.
    pub fn data(raw: &Raw, layout: Layout, format: PixelFormat) -> Result<Self, Refusal> {
        let plane = Self::new(raw, layout, format, &Look::default())?;
        if plane.range.fixed().is_some() {
            return Ok(plane);
        }
        let name = plane.named.0;
        Err(Refusal::Dtype(format!(
            "an array of {name} cannot be written as colours; convert it to uint8 or uint16 (whole range), or float16 or \
             float32 (0 to 1), for example x.astype('uint8') or x.to(torch.uint8) where the numbers are 0 to 255"
        )))
    }

    /// Refuses a picture that a display of images with at most `most` pixels a side does not show.
    ///
    /// # Errors
    /// [`Refusal::Shape`].
    pub fn check_sides(&self, most: u32) -> Result<(), Refusal> {
        let (width, height) = (self.width, self.height);
        if width.max(height) <= most {
            return Ok(());
        }
        Err(Refusal::Shape(format!(
            "the picture has {width}x{height} pixels, and this display shows at most {most} a side: show a part of the array, or save all of \
             it (--save x.png, in Python save=\"x.png\")"
        )))
    }

    /// GPUs read numbers only where they are aligned.
    fn check_alignment(&self) -> Result<(), Refusal> {
        if self.span.place == Place::Host {
            return Ok(());
        }
        let bytes = self.element.bytes();
        let first = self.span.start + self.span.first;
        let mut steps = self.strides.into_iter().chain([self.grid.stride]);
        if first.is_multiple_of(bytes) && steps.all(|step| step % bytes as i64 == 0) {
            return Ok(());
        }
        Err(Refusal::Shape(format!("the array's numbers are not aligned to their {bytes} bytes; show a copy of it")))
    }

    /// The numbers of the first picture.
    pub fn numbers<'a>(&self, bytes: &'a [u8]) -> Numbers<'a> {
        let Self { span, strides, channels, element, pair, tone, .. } = *self;
        Numbers { bytes, first: span.first as i64, strides, channels, element, pair, tone }
    }

    /// What it is and how it is shown, in a line.
    pub fn summary(&self) -> String {
        let ((numbers, layout), Grid { count, columns, width, height, .. }) = (self.named, self.grid);
        // Channels last, and more than are guessed to be some.
        let is_bands = layout == "NHW" && width < count.min(height) && width <= 16;
        let layout = if is_bands { "NHW (bands: layout=HWC, and channel)" } else { layout };
        let many = if count > 1 { format!(", {count} in {columns} columns") } else { String::new() };
        let measured = if self.range.fixed().is_some() { "" } else { " (measured)" };
        format!("{numbers} as {layout}, {width}x{height}{many}; {}{measured}", self.tone)
    }

    /// What it is and how it is shown, and the table of what is guessed, as text.
    pub fn explain(&self) -> String {
        format!("  array: {}\n{}", self.summary(), guesses())
    }
}

/// The range that is to be shown, and the tone as far as it is known.
fn tone(row: &Row, pair: Option<Pair>, look: &Look) -> (Range, Tone) {
    let value = |low, high| Range::Between(crate::End::Value(low), crate::End::Value(high));
    let range = match (look.range, pair, row.white) {
        (Range::OfType, Some(Pair::Phase), _) => value(-PI, PI),
        (Range::OfType, None, Some(white)) => value(0.0, white),
        (Range::OfType, ..) => Range::MINMAX,
        (asked, ..) => asked,
    };
    let odd = *look != Look::default() || range.fixed().is_none();
    (range, Tone::new(look, range.fixed().unwrap_or((0.0, 1.0)), odd))
}
