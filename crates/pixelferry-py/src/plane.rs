//! Layout of a picture: the place of its pixels and their storage.

use crate::failure::Failure;
use crate::span::{Number, Place, Raw, Sort, Span};
use pixelferry::PixelFormat;

/// Storage of one number. The values are those of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    U8 = 0,
    U16 = 1,
    F16 = 2,
    F32 = 3,
}

impl Element {
    /// Bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 => 2,
            Self::F32 => 4,
        }
    }

    /// The element of these numbers, or what to convert them to.
    pub fn new(number: Number) -> Result<Self, Failure> {
        if number.foreign {
            return Err(Failure::Dtype(
                "the array's numbers are in the byte order of other machines; convert it, for example with \
                 x.astype(x.dtype.newbyteorder('='))"
                    .into(),
            ));
        }
        match (number.sort, number.bits) {
            (Sort::Unsigned, 8) => Ok(Self::U8),
            (Sort::Unsigned, 16) => Ok(Self::U16),
            (Sort::Float, 16) => Ok(Self::F16),
            (Sort::Float, 32) => Ok(Self::F32),
            (Sort::Unsigned, bits) => Err(refused(&format!("{bits}-bit unsigned integers"), INTEGERS)),
            (Sort::Signed, _) => Err(refused("signed integers", INTEGERS)),
            (Sort::Boolean, _) => Err(refused("booleans", "x.astype('uint8') * 255")),
            (Sort::Float, bits) => Err(refused(&format!("{bits}-bit floats"), FLOATS)),
            (Sort::Other(what), _) => Err(refused(what, FLOATS)),
        }
    }
}

/// Code that turns numbers from 0 to 255 into elements that mean the same.
const INTEGERS: &str = "x.astype('uint8') or x.to(torch.uint8) where they are 0 to 255";
const FLOATS: &str = "x.astype('float32') or x.float()";

fn refused(what: &str, example: &str) -> Failure {
    Failure::Dtype(format!(
        "an array of {what} cannot be shown; convert it to uint8 or uint16 (whole range), or float16 or float32 (0 to 1), \
         for example {example}"
    ))
}

/// Order of the axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// Rows, columns, channels; or rows and columns.
    Hwc,
    /// Channels, rows, columns.
    Chw,
}

/// An array as rows of pixels. Only a description: whoever reads the memory sees to it that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// Its first number is that of pixel (0, 0).
    pub span: Span,
    pub width: u32,
    pub height: u32,
    pub channels: u32,
    /// Bytes from one row, column and channel to the next.
    pub strides: [i64; 3],
    pub element: Element,
}

impl Plane {
    /// An array as a picture of that format.
    pub fn new(raw: &Raw, axes: Axes, format: PixelFormat) -> Result<Self, Failure> {
        let element = Element::new(raw.number)?;
        let shape = &raw.shape;
        let strides = raw.strides()?;
        let (taken, hwc, chw): (&[i64], _, _) = match format.channels() {
            1 => (&[1], "(height, width), (height, width, 1)", "1"),
            2 => (&[2], "(height, width, 2)", "2"),
            _ => (&[1, 3, 4], "(height, width), (height, width, 1|3|4)", "1|3|4"),
        };
        let wrong = |what: &str| {
            let name = format.name().to_lowercase();
            Failure::Shape(format!(
                "an array of shape {shape:?} {what}; shown as format {name} are {hwc} and, with layout=\"CHW\", ({chw}, \
                 height, width)"
            ))
        };
        let (sides, steps) = match (axes, shape.as_slice(), strides.as_slice()) {
            (_, [h, w], [y, x]) => ([*h, *w, 1], [*y, *x, 0]),
            (Axes::Hwc, [h, w, c], [y, x, s]) => ([*h, *w, *c], [*y, *x, *s]),
            (Axes::Chw, [c, h, w], [s, y, x]) => ([*h, *w, *c], [*y, *x, *s]),
            _ => return Err(wrong("is no picture")),
        };
        if sides.iter().any(|side| *side <= 0) {
            return Err(wrong("is empty"));
        }
        let [height, width, channels] = sides;
        if !taken.contains(&channels) {
            let chw = axes == Axes::Hwc && shape.len() == 3 && taken.contains(&shape[0]);
            let hint = if chw { " (is its layout \"CHW\"?)" } else { "" };
            return Err(wrong(&format!("has {channels} channels{hint}")));
        }
        let side =
            |n: i64| u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(|| wrong("is too large"));
        let (width, height) = (side(width)?, side(height)?);
        let span = Span::new(raw, &sides, &steps, element.bytes())?;
        let plane = Self { span, width, height, channels: channels as u32, strides: steps, element };
        plane.check_alignment()?;
        Ok(plane)
    }

    /// GPUs read numbers only where they are aligned.
    fn check_alignment(&self) -> Result<(), Failure> {
        let bytes = self.element.bytes();
        let first = self.span.start + self.span.first;
        let aligned = first.is_multiple_of(bytes) && self.strides.iter().all(|s| s % bytes as i64 == 0);
        if self.span.place == Place::Host || aligned {
            return Ok(());
        }
        Err(Failure::Shape(format!("the array's numbers are not aligned to their {bytes} bytes; show a copy of it")))
    }
}
