//! What an array is, as data: where its pixels lie and how they are stored.

use crate::failure::Failure;

/// How one number is stored. The values are those of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    U8 = 0,
    U16 = 1,
    F16 = 2,
    F32 = 3,
}

/// What numbers are, as the protocols tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Unsigned,
    Float,
    Other(&'static str),
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

    /// The element with these properties, or what to convert it to.
    pub fn new(sort: Sort, bits: usize) -> Result<Self, Failure> {
        match (sort, bits) {
            (Sort::Unsigned, 8) => Ok(Self::U8),
            (Sort::Unsigned, 16) => Ok(Self::U16),
            (Sort::Float, 16) => Ok(Self::F16),
            (Sort::Float, 32) => Ok(Self::F32),
            (Sort::Unsigned, _) => Err(refused(&format!("{bits}-bit unsigned integers"))),
            (Sort::Float, _) => Err(refused(&format!("{bits}-bit floats"))),
            (Sort::Other(what), _) => Err(refused(what)),
        }
    }

    /// The element of a type string of NumPy or a format of the buffer protocol, as one letter and its bytes.
    pub fn of_letter(letter: char, bytes: usize) -> Result<Self, Failure> {
        let sort = match letter {
            'u' => Sort::Unsigned,
            'f' => Sort::Float,
            'i' => Sort::Other("signed integers"),
            'b' => Sort::Other("booleans"),
            'c' => Sort::Other("complex numbers"),
            _ => Sort::Other("these elements"),
        };
        Self::new(sort, bytes.saturating_mul(8))
    }
}

fn refused(what: &str) -> Failure {
    Failure::Dtype(format!(
        "an array of {what} cannot be shown; convert it to uint8 or uint16 (whole range), or float16 or float32 (0 to 1), \
         for example x.astype('float32') or x.float()"
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

/// Where the memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Host,
    /// CUDA's number of the device.
    Cuda(u32),
}

/// An array as rows of pixels. Only a description: whoever reads the memory sees to it that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// Lowest address of any byte.
    pub start: usize,
    /// Bytes from there to the end of the last one.
    pub len: usize,
    /// From `start` to the first number of pixel (0, 0).
    pub first: usize,
    pub width: u32,
    pub height: u32,
    pub channels: u32,
    /// Bytes from one row, column and channel to the next.
    pub strides: [i64; 3],
    pub element: Element,
    pub place: Place,
}

impl Plane {
    /// `address` is that of the element with all indices 0; strides are in bytes, one for each side of `shape`.
    pub fn new(
        address: usize,
        shape: &[i64],
        strides: &[i64],
        element: Element,
        axes: Axes,
        place: Place,
    ) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            Failure::Shape(format!(
                "an array of shape {shape:?} {what}; shown are (height, width), (height, width, 1|3|4) and, with \
                 layout=\"CHW\", (1|3|4, height, width)"
            ))
        };
        let (sides, steps) = match (axes, shape, strides) {
            (_, [h, w], [y, x]) => ([*h, *w, 1], [*y, *x, 0]),
            (Axes::Hwc, [h, w, c], [y, x, s]) => ([*h, *w, *c], [*y, *x, *s]),
            (Axes::Chw, [c, h, w], [s, y, x]) => ([*h, *w, *c], [*y, *x, *s]),
            _ => return Err(wrong("is no picture")),
        };
        if sides.iter().any(|side| *side <= 0) {
            return Err(wrong("is empty"));
        }
        let [height, width, channels] = sides;
        if !matches!(channels, 1 | 3 | 4) {
            let chw = axes == Axes::Hwc && matches!(shape, [1 | 3 | 4, _, _]);
            let hint = if chw { " (is its layout \"CHW\"?)" } else { "" };
            return Err(wrong(&format!("has {channels} channels{hint}")));
        }
        let side =
            |n: i64| u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32).ok_or_else(|| wrong("is too large"));
        let (width, height) = (side(width)?, side(height)?);
        if address == 0 {
            return Err(Failure::Shape("the array has no memory (its address is null)".into()));
        }
        // What lies before and after the first element.
        let (mut before, mut after) = (0_i128, element.bytes() as i128);
        for (side, step) in sides.iter().zip(steps) {
            let reach = i128::from(side - 1) * i128::from(step);
            if reach < 0 { before -= reach } else { after += reach }
        }
        let first = usize::try_from(before).ok().filter(|before| *before <= address);
        let len = usize::try_from(before + after).ok().filter(|len| *len <= isize::MAX as usize);
        let (Some(first), Some(len)) = (first, len) else { return Err(wrong("reaches outside of memory")) };
        let start = address - first;
        if start.checked_add(len).is_none() {
            return Err(wrong("reaches outside of memory"));
        }
        let plane =
            Self { start, len, first, width, height, channels: channels as u32, strides: steps, element, place };
        plane.check_alignment()?;
        Ok(plane)
    }

    /// GPUs read numbers only where they are aligned.
    fn check_alignment(&self) -> Result<(), Failure> {
        let bytes = self.element.bytes();
        let aligned =
            (self.start + self.first).is_multiple_of(bytes) && self.strides.iter().all(|s| s % bytes as i64 == 0);
        if self.place == Place::Host || aligned {
            return Ok(());
        }
        Err(Failure::Shape(format!("the array's numbers are not aligned to their {bytes} bytes; show a copy of it")))
    }

    /// Strides of rows that follow each other without a gap, for `shape`; `None` where that overflows.
    pub fn tight(shape: &[i64], element: Element) -> Option<Vec<i64>> {
        let mut step = element.bytes() as i64;
        let mut strides = vec![0; shape.len()];
        for (stride, side) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            step = step.checked_mul((*side).max(1))?;
        }
        Some(strides)
    }
}
