//! Converts numbers of any type to colours: first to floats, then over the range, then to pixels.

use crate::element::Element;
use crate::float8;
use crate::look::{ABOVE, BELOW, INFINITY, MINUS_INFINITY, NAN, Pair, Tone};
use crate::pixel::{Pixel, floor256};
use crate::raw::simd::{self, Loops};
use crate::rows::{Numbers, numbers, wide};
use bytemuck::Pod;
use compute_arrays::range_factor as factor;
use std::ops::Sub;

/// Number of pixels that are converted together.
pub const TOGETHER: usize = 256;

/// Numbers of these pixels, for each channel.
type Values<T> = [[T; TOGETHER]; 4];

/// A range, prepared for conversion: a factor for the numbers, which is 1 for floats of 32 bits; the start times that
/// factor; and 1 over the extent times that factor, or 0 for an empty range, which becomes black.
#[derive(Clone, Copy)]
pub(crate) struct Over<T> {
    factor: T,
    low: T,
    scale: T,
}

impl<T: Float> Over<T> {
    fn new((low, high): (f64, f64)) -> Self {
        let factor = factor(low, high);
        let extent = high * factor - low * factor;
        let scale = if extent == 0.0 { 0.0 } else { 1.0 / extent };
        Self { factor: T::of_double(factor), low: T::of_double(low * factor), scale: T::of_double(scale) }
    }
}

/// Float types that numbers are read as. Those of 32 bits convert twice as fast.
pub(crate) trait Float: Pod + Sub<Output = Self> + PartialOrd + Default + Send + Sync {
    fn of_single(value: f32) -> Self;
    fn of_double(value: f64) -> Self;
    fn double(self) -> f64;
    /// Distance from the start of a range, as a fraction of it.
    fn over(self, range: Over<Self>) -> f32;
    /// False for NaN and infinity.
    fn is_finite(self) -> bool;
}

impl Float for f32 {
    #[inline(always)]
    fn of_single(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn of_double(value: f64) -> Self {
        value as Self
    }

    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn over(self, Over { low, scale, .. }: Over<Self>) -> f32 {
        (self - low) * scale
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.to_bits() & 0x7f80_0000 != 0x7f80_0000
    }
}

impl Float for f64 {
    #[inline(always)]
    fn of_single(value: f32) -> Self {
        Self::from(value)
    }

    #[inline(always)]
    fn of_double(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn double(self) -> f64 {
        self
    }

    #[inline(always)]
    fn over(self, Over { factor, low, scale }: Over<Self>) -> f32 {
        ((self * factor - low) * scale) as f32
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        self.to_bits() & 0x7ff << 52 != 0x7ff << 52
    }
}

impl Numbers<'_> {
    /// Converts pixels of row `y`.
    pub(crate) fn painted<P: Pixel>(&self, y: u32, out: &mut [P]) {
        if self.is_single() && self.tone.is_single() {
            self.painted_as::<P, f32>(y, out);
        } else {
            self.painted_as::<P, f64>(y, out);
        }
    }

    fn painted_as<P: Pixel, T: Float>(&self, y: u32, out: &mut [P]) {
        let (mut values, mut parts) = ([[T::default(); TOGETHER]; 4], [[0.0; TOGETHER]; 4]);
        for (at, out) in out.chunks_mut(TOGETHER).enumerate() {
            for (channel, values) in (0..self.channels).zip(&mut values) {
                let (x, out) = (at * TOGETHER, &mut values[..out.len()]);
                simd::run(Fill { numbers: self, y, x, channel, out, origin: self.tone.whole.map(|(low, _)| low) });
            }
            simd::run(Paint { numbers: self, values: &values, parts: &mut parts, out });
        }
    }

    /// Reads the numbers of pixels from `x` of row `y`; exact except for integers of more bits than the float's.
    pub(crate) fn values<T: Float>(&self, y: u32, x: usize, channel: u32, out: &mut [T]) {
        simd::run(Fill { numbers: self, y, x, channel, out, origin: None });
    }

    /// Number of colour channels; the fourth is not one.
    pub(crate) fn colours(&self) -> usize {
        self.channels.min(3) as usize
    }

    /// Whether floats of 32 bits represent every number.
    pub(crate) fn is_single(&self) -> bool {
        use Element::{Bf16, Bool, F16, F32, I8, I16, U8, U16};
        self.pair.is_none() && matches!(self.element, U8 | U16 | F16 | F32 | Bool | I8 | I16 | Bf16)
    }
}

impl Tone {
    /// Whether floats of 32 bits are visually lossless: they represent a range's ends, or nearly, without overflow.
    pub(crate) fn is_single(&self) -> bool {
        let ((low, high), extent) = (self.ends(), self.ends().1 - self.ends().0);
        let lost = (low - f64::from(low as f32)).abs();
        lost <= extent.abs() / 65536.0 && low.abs().max(high.abs()) < 1e30 && (extent.abs() > 1e-30 || extent == 0.0)
    }
}

/// Reads numbers.
struct Fill<'a, T> {
    numbers: &'a Numbers<'a>,
    y: u32,
    x: usize,
    channel: u32,
    out: &'a mut [T],
    /// Minimum of integers of 64 bits, which are read relative to it.
    origin: Option<i128>,
}

impl<T: Float> Fill<'_, T> {
    #[inline(always)]
    fn each<const N: usize>(self, value: impl Fn([u8; N]) -> T) {
        let Self { numbers: of, y, x, channel, out, .. } = self;
        let [row, column, apart] = of.strides;
        // `Numbers::check` has compared all of this with the available bytes.
        let start = of.first + i64::from(y) * row + i64::from(channel) * apart;
        let start = start.wrapping_add((x as i64).wrapping_mul(column));
        let bytes = of.bytes.get(start as usize..).unwrap_or_default();
        if column == N as i64 {
            return numbers::<N>(bytes).iter().zip(out).for_each(|(number, to)| *to = value(*number));
        }
        if column > 0 && column % N as i64 == 0 {
            let each = numbers::<N>(bytes).iter().step_by(column as usize / N);
            return each.zip(out).for_each(|(number, to)| *to = value(*number));
        }
        for (x, to) in (0..).zip(out) {
            let at = start.wrapping_add(i64::wrapping_mul(x, column));
            let there = of.bytes.get(at as usize..).and_then(|rest| rest.first_chunk());
            *to = value(there.copied().unwrap_or([0; N]));
        }
    }

    /// Reads numbers that consist of two halves.
    #[inline(always)]
    fn pairs<const N: usize, const TWO: usize>(self, pair: Pair, value: impl Fn([u8; N]) -> f64) {
        self.each(|both: [u8; TWO]| {
            let part = |at| both.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N]);
            let (real, imaginary) = (value(part(0)), value(part(N)));
            T::of_double(match pair {
                Pair::Magnitude => real.hypot(imaginary),
                Pair::Phase => imaginary.atan2(real),
            })
        });
    }
}

impl<T: Float> Loops for Fill<'_, T> {
    #[inline(always)]
    fn run(self) {
        let (single, double) = (T::of_single, T::of_double);
        let half = |number| f64::from(wide(number));
        if let Some(origin) = self.origin {
            let apart = |whole: i128| double((whole - origin) as f64);
            return match self.numbers.element {
                Element::U64 => self.each(|number| apart(u64::from_ne_bytes(number).into())),
                _ => self.each(|number| apart(i64::from_ne_bytes(number).into())),
            };
        }
        match (self.numbers.element, self.numbers.pair) {
            (Element::F16, Some(pair)) => self.pairs::<2, 4>(pair, half),
            (Element::F64, Some(pair)) => self.pairs::<8, 16>(pair, f64::from_ne_bytes),
            (_, Some(pair)) => self.pairs::<4, 8>(pair, |number| f64::from(f32::from_ne_bytes(number))),
            (Element::U8, _) => self.each(|[byte]| single(f32::from(byte))),
            (Element::I8, _) => self.each(|[byte]| single(f32::from(byte.cast_signed()))),
            (Element::Bool, _) => self.each(|[byte]| if byte == 0 { single(0.0) } else { single(1.0) }),
            (Element::U16, _) => self.each(|number| single(f32::from(u16::from_ne_bytes(number)))),
            (Element::I16, _) => self.each(|number| single(f32::from(i16::from_ne_bytes(number)))),
            (Element::F16, _) => self.each(|number| single(wide(number))),
            (Element::Bf16, _) => {
                self.each(|number| single(f32::from_bits(u32::from(u16::from_ne_bytes(number)) << 16)))
            }
            (Element::U32, _) => self.each(|number| double(f64::from(u32::from_ne_bytes(number)))),
            (Element::I32, _) => self.each(|number| double(f64::from(i32::from_ne_bytes(number)))),
            (Element::F32, _) => self.each(|number| single(f32::from_ne_bytes(number))),
            (Element::U64, _) => self.each(|number| double(u64::from_ne_bytes(number) as f64)),
            (Element::I64, _) => self.each(|number| double(i64::from_ne_bytes(number) as f64)),
            (Element::F64, _) => self.each(|number| double(f64::from_ne_bytes(number))),
            (float8, _) => {
                let values = float8::values(float8);
                self.each(|[code]| single(values[usize::from(code)]));
            }
        }
    }
}

/// Converts numbers to pixels.
struct Paint<'a, P, T> {
    numbers: &'a Numbers<'a>,
    values: &'a Values<T>,
    /// The numbers as fractions from 0 to 1.
    parts: &'a mut Values<f32>,
    out: &'a mut [P],
}

impl<P: Pixel, T: Float> Loops for Paint<'_, P, T> {
    #[inline(always)]
    fn run(self) {
        let Self { numbers: of, values, parts, out } = self;
        let (tone, colours, len) = (of.tone, of.colours(), out.len());
        let range = Over::<T>::new(tone.ends());
        let mut has_marks = false;
        // Keep these loops minimal, so that the compiler vectorises them.
        for (parts, values) in parts.iter_mut().zip(values).take(colours) {
            let (parts, values) = (&mut parts[..len], &values[..len]);
            for (part, value) in parts.iter_mut().zip(values) {
                // A value of 1 stays 1 after rounding, whichever way it was divided.
                *part = value.over(range) * tone.gain;
            }
            has_marks |= tone.odd && !values.iter().fold(true, |finite, value| finite & value.is_finite());
            if tone.marks {
                has_marks |= parts.iter().any(|part| !(0.0..=1.0).contains(part));
            }
            if tone.exponent != 1.0 {
                parts.iter_mut().filter(|part| **part > 0.0).for_each(|part| *part = part.powf(tone.exponent));
            }
        }
        // Types without a defined opaque value are opaque.
        let opaque = of.element.row().white.filter(|_| of.channels == 4 && of.pair.is_none());
        let [first, second, third, _] = &*parts;
        if let Some(table) = tone.colormap.and_then(crate::Colormap::colours) {
            let mut levels = [0_u32; TOGETHER];
            levels[..len].iter_mut().zip(first).for_each(|(level, part)| *level = floor256(part * 256.0));
            out.iter_mut().zip(levels).for_each(|(to, level)| *to = P::of_bytes(table[level as usize & 0xff]));
        } else if colours == 1 {
            out.iter_mut().zip(first).for_each(|(to, grey)| *to = P::of_colour([*grey, *grey, *grey, 1.0]));
        } else if let Some(white) = opaque {
            let colours = first.iter().zip(second).zip(third).zip(&values[3]);
            out.iter_mut().zip(colours).for_each(|(to, (((r, g), b), a))| {
                *to = P::of_colour([*r, *g, *b, (a.double() / white) as f32]);
            });
        } else {
            // With two channels, the third colour is black.
            let colours = first.iter().zip(second).zip(third);
            out.iter_mut().zip(colours).for_each(|(to, ((r, g), b))| *to = P::of_colour([*r, *g, *b, 1.0]));
        }
        if has_marks {
            for (x, to) in out.iter_mut().enumerate() {
                let mark = (0..colours).find_map(|channel| tone.mark(values[channel][x].double(), parts[channel][x]));
                *to = mark.map_or(*to, P::of_bytes);
            }
        }
    }
}

impl Tone {
    /// Returns the colour for a marked or non-finite number, given its position in the range.
    fn mark(&self, value: f64, part: f32) -> Option<[u8; 4]> {
        match value {
            _ if value.is_nan() => self.odd.then_some(NAN),
            f64::INFINITY => self.odd.then_some(INFINITY),
            f64::NEG_INFINITY => self.odd.then_some(MINUS_INFINITY),
            _ if self.marks && part > 1.0 => Some(ABOVE),
            _ if self.marks && part < 0.0 => Some(BELOW),
            _ => None,
        }
    }
}
