//! Converts arrays to pixels on the CPU, row by row. `kernels/show.cu` does the same on a GPU.

use crate::element::Element;
use crate::look::{Pair, Tone};
use crate::pixel::Pixel;
use crate::raw::simd::{self, Loops};
use pixelferry::{Error, Result};

/// An array's numbers, and where the pixels of one picture are.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    /// The whole memory.
    pub bytes: &'a [u8],
    /// Offset of the number of pixel (0, 0) in bytes.
    pub first: i64,
    /// Bytes from one row, column and channel to the next.
    pub strides: [i64; 3],
    /// Number of channels, 1 to 4.
    pub channels: u32,
    /// Storage of a number, or of half of one.
    pub element: Element,
    /// Set if two elements make one number.
    pub pair: Option<Pair>,
    /// How numbers become colours.
    pub tone: Tone,
}

/// Converts like [`f16::to_f32`], which checks the processor's features for each number.
#[inline(always)]
pub fn wide(number: [u8; 2]) -> f32 {
    let half = u32::from(u16::from_ne_bytes(number));
    let (sign, rest) = ((half & 0x8000) << 16, (half & 0x7fff) << 13);
    // 2 to the power of the difference of the exponents' biases.
    let finite = (f32::from_bits(rest) * f32::from_bits(0x7780_0000)).to_bits();
    let value = if rest < 0x7c00 << 13 { finite } else { rest | 0x7f80_0000 };
    f32::from_bits(sign | value)
}

impl Numbers<'_> {
    /// Refuses a description that reaches outside of the bytes: everything below relies on this check.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check(&self, width: u32, height: u32) -> Result<()> {
        let sides = [height, width, self.channels].map(|side| i128::from(side.max(1)));
        let (mut low, mut high) = (i128::from(self.first), i128::from(self.first) + self.bytes_of_one() as i128);
        for (side, stride) in sides.into_iter().zip(self.strides) {
            let reach = (side - 1) * i128::from(stride);
            if reach < 0 { low += reach } else { high += reach }
        }
        if low < 0 || high > self.bytes.len() as i128 || !(1..=4).contains(&self.channels) {
            return Err(Error::invalid("show", "the array's description reaches outside of its memory"));
        }
        Ok(())
    }

    /// Bytes of a number.
    pub fn bytes_of_one(&self) -> usize {
        self.element.bytes() * if self.pair.is_some() { 2 } else { 1 }
    }

    /// Returns whether numbers are converted directly: common types with the default look.
    pub fn is_plain(&self) -> bool {
        (self.element as usize) <= Element::F32 as usize && self.pair.is_none() && self.tone.is_plain(self.element)
    }

    /// Converts pixels of row `y`.
    pub fn row<P: Pixel>(&self, y: u32, out: &mut [P]) {
        if self.is_plain() { simd::run(OutputRow { numbers: self, y, out }) } else { self.painted(y, out) }
    }

    #[inline(always)]
    fn row_here<P: Pixel>(&self, y: u32, out: &mut [P]) {
        match self.element {
            Element::U8 => self.row_of(y, out, |[byte]: [u8; 1]| byte, 255, P::of_bytes),
            Element::U16 => self.row_of(y, out, |n| f32::from(u16::from_ne_bytes(n)) / 65535.0, 1.0, P::of_colour),
            Element::F16 if self.is_tight() => self.halves(y, out),
            Element::F16 => self.row_of(y, out, wide, 1.0, P::of_colour),
            _ => self.row_of(y, out, f32::from_ne_bytes, 1.0, P::of_colour),
        }
    }

    /// Whether the numbers of a row are contiguous.
    fn is_tight(&self) -> bool {
        let [_, column, channel] = self.strides;
        let size = self.element.bytes() as i64;
        column == size * i64::from(self.channels) && (channel == size || self.channels == 1)
    }

    /// Converts a row of contiguous halves, a few at a time as singles; the loop is minimal, so that it is vectorised.
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
            let some = Numbers { bytes, first: 0, strides, element: Element::F32, ..*self };
            some.row_of(0, out, f32::from_ne_bytes, 1.0, P::of_colour);
        }
    }

    /// Converts a row of numbers of `N` bytes: `number` reads one, `pixel` takes four.
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
        // `check` has compared all of this with the available bytes.
        let start = self.first + i64::from(y) * row;
        let at = |n: i64| self.bytes.get(start.wrapping_add(n * channel) as usize..).unwrap_or_default();
        let bytes = at(0);
        match (self.is_tight(), self.channels) {
            // The common case: loops that the compiler vectorises.
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
            // Separate channels, as in most tensors.
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

/// A row to write.
struct OutputRow<'a, P> {
    numbers: &'a Numbers<'a>,
    y: u32,
    out: &'a mut [P],
}

impl<P: Pixel> Loops for OutputRow<'_, P> {
    #[inline(always)]
    fn run(self) {
        self.numbers.row_here(self.y, self.out);
    }
}

/// The complete numbers of `N` bytes.
#[inline(always)]
pub fn numbers<const N: usize>(bytes: &[u8]) -> &[[u8; N]] {
    bytes.as_chunks().0
}
