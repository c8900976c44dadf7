//! Arrays made into pixels on the CPU. `kernels/show.cu` does the same on a GPU.

use crate::plane::Element;
use bytemuck::Pod;
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

fn unorm8(value: f32) -> u8 {
    // NaN stays NaN, which becomes 0; the conversion cuts off.
    (value.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

impl Pixel for u8 {
    fn of_colour(colour: [f32; 4]) -> Self {
        unorm8(colour[0])
    }

    fn of_bytes(colour: [u8; 4]) -> Self {
        colour[0]
    }
}

impl Pixel for [u8; 4] {
    fn of_colour(colour: [f32; 4]) -> Self {
        colour.map(unorm8)
    }

    fn of_bytes(colour: [u8; 4]) -> Self {
        colour
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
        if low < 0 || high > self.bytes.len() as i128 || !matches!(self.channels, 1 | 3 | 4) {
            return Err(Error::invalid("show", "the array's description reaches outside of its memory"));
        }
        Ok(())
    }

    /// Pixels of row `y`.
    pub fn row<P: Pixel>(&self, y: u32, out: &mut [P]) {
        match self.element {
            Element::U8 => self.row_of(y, out, |[byte]: [u8; 1]| byte, 255, P::of_bytes),
            Element::U16 => self.row_of(y, out, |n| f32::from(u16::from_ne_bytes(n)) / 65535.0, 1.0, P::of_colour),
            Element::F16 => self.row_of(y, out, |n| f16::from_ne_bytes(n).to_f32(), 1.0, P::of_colour),
            Element::F32 => self.row_of(y, out, f32::from_ne_bytes, 1.0, P::of_colour),
        }
    }

    /// Of numbers of `N` bytes: `number` reads one, `pixel` takes four.
    fn row_of<P: Pixel, T: Copy, const N: usize>(
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
        let size = N as i64;
        let tight = column == size * i64::from(self.channels) && (channel == size || self.channels == 1);
        let bytes = self.bytes.get(start as usize..).unwrap_or_default();
        match (tight, self.channels) {
            // Most arrays: loops that the compiler makes into vector instructions.
            (true, 4) => numbers::<N>(bytes).as_chunks().0.iter().zip(out).for_each(|([r, g, b, a], to)| {
                *to = pixel([number(*r), number(*g), number(*b), number(*a)]);
            }),
            (true, 3) => numbers::<N>(bytes).as_chunks().0.iter().zip(out).for_each(|([r, g, b], to)| {
                *to = pixel([number(*r), number(*g), number(*b), opaque]);
            }),
            (true, _) => numbers::<N>(bytes).iter().zip(out).for_each(|(grey, to)| {
                let grey = number(*grey);
                *to = pixel([grey, grey, grey, opaque]);
            }),
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
                    *to = pixel([first, other(1), other(2), if channels == 4 { other(3) } else { opaque }]);
                }
            }
        }
    }
}

/// Whole numbers of `N` bytes.
fn numbers<const N: usize>(bytes: &[u8]) -> &[[u8; N]] {
    bytes.as_chunks().0
}
