//! Arrays made into pixels on the CPU. `kernels/show.cu` does the same on a GPU.

use crate::plane::Element;
use crate::raw::simd::{self, Loops};
use bytemuck::{Pod, Zeroable};
use half::f16;
use pixelferry::{Error, Result};

/// An array's numbers, and where in them the pixels are.
pub struct Numbers<'a> {
    pub bytes: &'a [u8],
    pub first: i64,
    /// Bytes from one row, column and channel to the next.
    pub strides: [i64; 3],
    pub channels: u32,
    pub element: Element,
}

/// A pixel as a display's memory holds it.
pub trait Pixel: Pod {
    /// From red, green, blue and alpha in 0..=1.
    fn of_colour(colour: [f32; 4]) -> Self;

    /// From bytes, where that is exact without a detour.
    fn of_bytes(colour: [u8; 4]) -> Self {
        Self::of_colour(colour.map(|byte| f32::from(byte) / 255.0))
    }
}

/// The nearest of the levels 0 to `MOST`, a number whose bits are all ones, for 0 to 1; 0 for NaN.
#[inline(always)]
fn unorm<const MOST: u32>(value: f32) -> u32 {
    /// A float of this size has no fraction.
    const WHOLE: f32 = 8_388_608.0;
    // Comparisons with NaN are false.
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 1.0 { value } else { 1.0 };
    let level = value * MOST as f32 + 0.5;
    // Its last bits are the level, rounded, which is one too many where that went up.
    let rounded = level + WHOLE;
    (rounded.to_bits() - u32::from(rounded - WHOLE > level)) & MOST
}

#[inline(always)]
fn unorm8(value: f32) -> u32 {
    unorm::<0xff>(value)
}

/// Converts as [`f16::to_f32`] does, which asks the processor for its features with each number.
#[inline(always)]
fn wide(number: [u8; 2]) -> f32 {
    let half = u32::from(u16::from_ne_bytes(number));
    let (sign, rest) = ((half & 0x8000) << 16, (half & 0x7fff) << 13);
    // 2 to the power of what the exponents' biases differ by.
    let finite = (f32::from_bits(rest) * f32::from_bits(0x7780_0000)).to_bits();
    let value = if rest < 0x7c00 << 13 { finite } else { rest | 0x7f80_0000 };
    f32::from_bits(sign | value)
}

impl Pixel for u8 {
    fn of_colour(colour: [f32; 4]) -> Self {
        unorm8(colour[0]) as u8
    }

    fn of_bytes(colour: [u8; 4]) -> Self {
        colour[0]
    }
}

impl Pixel for [u8; 4] {
    #[inline(always)]
    fn of_colour([r, g, b, a]: [f32; 4]) -> Self {
        // As one number: bytes by themselves are not made into vectors.
        (unorm8(r) | unorm8(g) << 8 | unorm8(b) << 16 | unorm8(a) << 24).to_le_bytes()
    }

    fn of_bytes(colour: [u8; 4]) -> Self {
        colour
    }
}

impl Pixel for [u8; 2] {
    #[inline(always)]
    fn of_colour([r, g, ..]: [f32; 4]) -> Self {
        [unorm8(r) as u8, unorm8(g) as u8]
    }

    fn of_bytes([r, g, ..]: [u8; 4]) -> Self {
        [r, g]
    }
}

impl Pixel for u16 {
    fn of_colour(colour: [f32; 4]) -> Self {
        unorm::<0xffff>(colour[0]) as Self
    }
}

/// Blue first.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bgra([u8; 4]);

impl Pixel for Bgra {
    #[inline(always)]
    fn of_colour([r, g, b, a]: [f32; 4]) -> Self {
        Self(Pixel::of_colour([b, g, r, a]))
    }

    fn of_bytes([r, g, b, a]: [u8; 4]) -> Self {
        Self([b, g, r, a])
    }
}

/// A word with red in its lowest bits.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Packed(u32);

impl Pixel for Packed {
    #[inline(always)]
    fn of_colour([r, g, b, a]: [f32; 4]) -> Self {
        Self(unorm::<1023>(r) | unorm::<1023>(g) << 10 | unorm::<1023>(b) << 20 | unorm::<3>(a) << 30)
    }
}

impl Pixel for f16 {
    fn of_colour(colour: [f32; 4]) -> Self {
        Self::from_f32(colour[0])
    }
}

impl Pixel for [f16; 2] {
    fn of_colour([r, g, ..]: [f32; 4]) -> Self {
        [r, g].map(f16::from_f32)
    }
}

impl Pixel for [f16; 4] {
    fn of_colour(colour: [f32; 4]) -> Self {
        colour.map(f16::from_f32)
    }
}

impl Pixel for f32 {
    fn of_colour(colour: [f32; 4]) -> Self {
        colour[0]
    }
}

impl Pixel for [f32; 2] {
    fn of_colour([r, g, ..]: [f32; 4]) -> Self {
        [r, g]
    }
}

impl Pixel for [f32; 4] {
    fn of_colour(colour: [f32; 4]) -> Self {
        colour
    }
}

impl Numbers<'_> {
    /// Refuses a description that reaches outside of the bytes: everything below relies on it.
    pub fn check(&self, width: u32, height: u32) -> Result<()> {
        let sides = [height, width, self.channels].map(|side| i128::from(side.max(1)));
        let (mut low, mut high) = (i128::from(self.first), i128::from(self.first) + self.element.bytes() as i128);
        for (side, stride) in sides.into_iter().zip(self.strides) {
            let reach = (side - 1) * i128::from(stride);
            if reach < 0 { low += reach } else { high += reach }
        }
        if low < 0 || high > self.bytes.len() as i128 || !(1..=4).contains(&self.channels) {
            return Err(Error::invalid("show", "the array's description reaches outside of its memory"));
        }
        Ok(())
    }

    /// Pixels of row `y`.
    pub fn row<P: Pixel>(&self, y: u32, out: &mut [P]) {
        simd::run(Row { numbers: self, y, out });
    }

    #[inline(always)]
    fn row_here<P: Pixel>(&self, y: u32, out: &mut [P]) {
        match self.element {
            Element::U8 => self.row_of(y, out, |[byte]: [u8; 1]| byte, 255, P::of_bytes),
            Element::U16 => self.row_of(y, out, |n| f32::from(u16::from_ne_bytes(n)) / 65535.0, 1.0, P::of_colour),
            Element::F16 if self.is_tight() => self.halves(y, out),
            Element::F16 => self.row_of(y, out, wide, 1.0, P::of_colour),
            Element::F32 => self.row_of(y, out, f32::from_ne_bytes, 1.0, P::of_colour),
        }
    }

    /// True where the numbers of a row follow each other.
    fn is_tight(&self) -> bool {
        let [_, column, channel] = self.strides;
        let size = self.element.bytes() as i64;
        column == size * i64::from(self.channels) && (channel == size || self.channels == 1)
    }

    /// A row of tight halves: some at a time as singles, by a loop without anything else, which is made into vectors.
    #[inline(always)]
    fn halves<P: Pixel>(&self, y: u32, out: &mut [P]) {
        const TOGETHER: usize = 64;
        let mut singles = [0.0_f32; 4 * TOGETHER];
        let start = self.first + i64::from(y) * self.strides[0];
        let halves = numbers::<2>(self.bytes.get(start as usize..).unwrap_or_default());
        let channels = self.channels as usize;
        for (out, halves) in out.chunks_mut(TOGETHER).zip(halves.chunks(channels * TOGETHER)) {
            halves.iter().zip(&mut singles).for_each(|(half, single)| *single = wide(*half));
            let strides = [0, 4 * i64::from(self.channels), 4];
            let bytes = bytemuck::cast_slice(&singles);
            let some = Numbers { bytes, first: 0, strides, channels: self.channels, element: Element::F32 };
            some.row_of(0, out, f32::from_ne_bytes, 1.0, P::of_colour);
        }
    }

    /// Writes a row of numbers of `N` bytes: `number` reads one, `pixel` takes four.
    #[inline(always)]
    fn row_of<P: Pixel, T: Copy + Default, const N: usize>(
        &self,
        y: u32,
        out: &mut [P],
        number: impl Fn([u8; N]) -> T,
        opaque: T,
        pixel: impl Fn([T; 4]) -> P,
    ) {
        let [row, column, channel] = self.strides;
        // `check` has compared all of this with the bytes there are.
        let start = self.first + i64::from(y) * row;
        let at = |n: i64| self.bytes.get(start.wrapping_add(n * channel) as usize..).unwrap_or_default();
        let bytes = at(0);
        match (self.is_tight(), self.channels) {
            // Most arrays: loops that the compiler makes into vector instructions.
            (true, 4) => numbers::<N>(bytes).as_chunks().0.iter().zip(out).for_each(|([r, g, b, a], to)| {
                *to = pixel([number(*r), number(*g), number(*b), number(*a)]);
            }),
            (true, 3) => numbers::<N>(bytes).as_chunks().0.iter().zip(out).for_each(|([r, g, b], to)| {
                *to = pixel([number(*r), number(*g), number(*b), opaque]);
            }),
            (true, 2) => numbers::<N>(bytes).as_chunks().0.iter().zip(out).for_each(|([r, g], to)| {
                *to = pixel([number(*r), number(*g), T::default(), opaque]);
            }),
            (true, _) => numbers::<N>(bytes).iter().zip(out).for_each(|(grey, to)| {
                let grey = number(*grey);
                *to = pixel([grey, grey, grey, opaque]);
            }),
            // Channels apart from each other, as in most tensors.
            (false, 3) if column == N as i64 => {
                let planes = numbers::<N>(bytes).iter().zip(numbers::<N>(at(1))).zip(numbers::<N>(at(2)));
                planes.zip(out).for_each(|(((r, g), b), to)| *to = pixel([number(*r), number(*g), number(*b), opaque]));
            }
            (false, channels) => {
                let at = |at: i64| {
                    let there = self.bytes.get(at as usize..).and_then(|rest| rest.first_chunk());
                    number(there.copied().unwrap_or([0; N]))
                };
                // Pixel by pixel of the output: the step after the last one may lead outside of all numbers.
                for (x, to) in (0..).zip(out) {
                    let at_pixel = start.wrapping_add(i64::wrapping_mul(x, column));
                    let first = at(at_pixel);
                    let other = |n: i64| if channels == 1 { first } else { at(at_pixel + n * channel) };
                    let blue = if channels == 2 { T::default() } else { other(2) };
                    *to = pixel([first, other(1), blue, if channels == 4 { other(3) } else { opaque }]);
                }
            }
        }
    }
}

/// A row to be written.
struct Row<'a, P> {
    numbers: &'a Numbers<'a>,
    y: u32,
    out: &'a mut [P],
}

impl<P: Pixel> Loops for Row<'_, P> {
    #[inline(always)]
    fn run(self) {
        self.numbers.row_here(self.y, self.out);
    }
}

/// Whole numbers of `N` bytes.
#[inline(always)]
fn numbers<const N: usize>(bytes: &[u8]) -> &[[u8; N]] {
    bytes.as_chunks().0
}
