//! Numbers of any kind made into colours: first as numbers of 64 bits, then over the range, then as pixels.

use crate::element::Element;
use crate::float8;
use crate::look::{ABOVE, BELOW, INFINITY, MINUS_INFINITY, NAN, Pair, Tone};
use crate::pixel::Pixel;
use crate::raw::simd::{self, Loops};
use crate::rows::{Numbers, numbers, wide};

/// Pixels that are made together.
pub const TOGETHER: usize = 256;

/// Numbers of some pixels, for each channel.
type Values = [[f64; TOGETHER]; 4];

impl Numbers<'_> {
    /// Pixels of row `y`, by the tone.
    pub(crate) fn painted<P: Pixel>(&self, y: u32, out: &mut [P]) {
        let mut values = [[0.0; TOGETHER]; 4];
        for (at, out) in out.chunks_mut(TOGETHER).enumerate() {
            for (channel, values) in (0..self.channels).zip(&mut values) {
                self.values(y, at * TOGETHER, channel, &mut values[..out.len()]);
            }
            simd::run(Paint { numbers: self, values: &values, out });
        }
    }

    /// The numbers of pixels from `x` of row `y`, exact but for integers above 2^53.
    pub(crate) fn values(&self, y: u32, x: usize, channel: u32, out: &mut [f64]) {
        simd::run(Fill { numbers: self, y, x, channel, out });
    }

    /// Channels that are colours; the fourth is not.
    pub(crate) fn colours(&self) -> usize {
        self.channels.min(3) as usize
    }
}

/// Numbers to be read.
struct Fill<'a> {
    numbers: &'a Numbers<'a>,
    y: u32,
    x: usize,
    channel: u32,
    out: &'a mut [f64],
}

impl Fill<'_> {
    #[inline(always)]
    fn each<const N: usize>(self, value: impl Fn([u8; N]) -> f64) {
        let Self { numbers: of, y, x, channel, out } = self;
        let [row, column, apart] = of.strides;
        // `Numbers::check` has compared all of this with the bytes there are.
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

    /// Numbers of two, each of half the bytes.
    #[inline(always)]
    fn pairs<const N: usize, const TWO: usize>(self, pair: Pair, value: impl Fn([u8; N]) -> f64) {
        self.each(|both: [u8; TWO]| {
            let part = |at| both.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N]);
            let (real, imaginary) = (value(part(0)), value(part(N)));
            match pair {
                Pair::Magnitude => real.hypot(imaginary),
                Pair::Phase => imaginary.atan2(real),
            }
        });
    }
}

impl Loops for Fill<'_> {
    #[inline(always)]
    fn run(self) {
        let half = |number| f64::from(wide(number));
        match (self.numbers.element, self.numbers.pair) {
            (Element::F16, Some(pair)) => self.pairs::<2, 4>(pair, half),
            (Element::F64, Some(pair)) => self.pairs::<8, 16>(pair, f64::from_ne_bytes),
            (_, Some(pair)) => self.pairs::<4, 8>(pair, |number| f64::from(f32::from_ne_bytes(number))),
            (Element::U8, _) => self.each(|[byte]| f64::from(byte)),
            (Element::I8, _) => self.each(|[byte]| f64::from(byte.cast_signed())),
            (Element::Bool, _) => self.each(|[byte]| if byte == 0 { 0.0 } else { 1.0 }),
            (Element::U16, _) => self.each(|number| f64::from(u16::from_ne_bytes(number))),
            (Element::I16, _) => self.each(|number| f64::from(i16::from_ne_bytes(number))),
            (Element::F16, _) => self.each(half),
            (Element::Bf16, _) => {
                self.each(|number| f64::from(f32::from_bits(u32::from(u16::from_ne_bytes(number)) << 16)))
            }
            (Element::U32, _) => self.each(|number| f64::from(u32::from_ne_bytes(number))),
            (Element::I32, _) => self.each(|number| f64::from(i32::from_ne_bytes(number))),
            (Element::F32, _) => self.each(|number| f64::from(f32::from_ne_bytes(number))),
            (Element::U64, _) => self.each(|number| u64::from_ne_bytes(number) as f64),
            (Element::I64, _) => self.each(|number| i64::from_ne_bytes(number) as f64),
            (Element::F64, _) => self.each(f64::from_ne_bytes),
            (float8, _) => {
                let values = float8::values(float8);
                self.each(|[code]| f64::from(values[usize::from(code)]));
            }
        }
    }
}

/// Pixels to be made of numbers.
struct Paint<'a, P> {
    numbers: &'a Numbers<'a>,
    values: &'a Values,
    out: &'a mut [P],
}

impl<P: Pixel> Loops for Paint<'_, P> {
    #[inline(always)]
    fn run(self) {
        let Self { numbers: of, values, out } = self;
        let (tone, colours, len) = (of.tone, of.colours(), out.len());
        let (low, scale) = (tone.range.0, tone.scale());
        let mut parts = [[0.0_f32; TOGETHER]; 4];
        let mut has_marks = false;
        // Loops without anything else, which are made into vectors.
        for (parts, values) in parts.iter_mut().zip(values).take(colours) {
            let (parts, values) = (&mut parts[..len], &values[..len]);
            for (part, value) in parts.iter_mut().zip(values) {
                // What is 1 is rounded to 1, however it was divided.
                *part = ((value - low) * scale) as f32 * tone.gain;
            }
            let odd = values.iter().fold(0, |odd, value| odd | u64::from(value.to_bits() & EXPONENT == EXPONENT));
            has_marks |= tone.odd && odd != 0;
            if tone.marks {
                has_marks |= parts.iter().any(|part| !(0.0..=1.0).contains(part));
            }
            if tone.exponent != 1.0 {
                parts.iter_mut().filter(|part| **part > 0.0).for_each(|part| *part = part.powf(tone.exponent));
            }
        }
        // Types of which nothing says what is opaque are.
        let opaque = of.element.row().white.filter(|_| of.channels == 4 && of.pair.is_none());
        let [first, second, third, _] = &parts;
        if let Some(table) = tone.colormap.and_then(crate::Colormap::colours) {
            for (to, part) in out.iter_mut().zip(first) {
                // Casts saturate, and NaN becomes 0.
                *to = P::of_bytes(table[usize::from((part * 256.0) as u8)]);
            }
        } else if colours == 1 {
            out.iter_mut().zip(first).for_each(|(to, grey)| *to = P::of_colour([*grey, *grey, *grey, 1.0]));
        } else if let Some(white) = opaque {
            let colours = first.iter().zip(second).zip(third).zip(&values[3]);
            out.iter_mut().zip(colours).for_each(|(to, (((r, g), b), a))| {
                *to = P::of_colour([*r, *g, *b, (a / white) as f32]);
            });
        } else {
            // Of two channels the third is black.
            let colours = first.iter().zip(second).zip(third);
            out.iter_mut().zip(colours).for_each(|(to, ((r, g), b))| *to = P::of_colour([*r, *g, *b, 1.0]));
        }
        if has_marks {
            for (x, to) in out.iter_mut().enumerate() {
                let mark = (0..colours).find_map(|channel| tone.mark(values[channel][x], parts[channel][x]));
                *to = mark.map_or(*to, P::of_bytes);
            }
        }
    }
}

/// Bits that are set in what is not finite.
const EXPONENT: u64 = 0x7ff << 52;

impl Tone {
    /// The colour of what has one of its own: a number, and where it is over the range.
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
