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
        let sides = [height, width, self.channels].map(i128::from);
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
        let [row, column, channel] = self.strides;
        let start = self.first + i64::from(y) * row;
        if self.element != Element::U8 {
            for (at, pixel) in (0..).map(|x: i64| start + x * column).zip(out) {
                *pixel = P::of_colour(self.colour(at, channel));
            }
            return;
        }
        // Tight rows are most arrays.
        let tight = (column, channel) == (i64::from(self.channels), 1) || (column, self.channels) == (1, 1);
        let bytes = tight.then(|| self.bytes.get(start as usize..)).flatten();
        match (bytes, self.channels) {
            (Some(from), 4) => {
                out.iter_mut().zip(from.as_chunks().0).for_each(|(pixel, p)| *pixel = P::of_bytes(*p));
            }
            (Some(from), 3) => {
                let pixels = from.as_chunks().0;
                out.iter_mut().zip(pixels).for_each(|(pixel, [r, g, b])| *pixel = P::of_bytes([*r, *g, *b, 255]));
            }
            (Some(from), _) => {
                out.iter_mut().zip(from).for_each(|(pixel, g)| *pixel = P::of_bytes([*g, *g, *g, 255]));
            }
            (None, _) => {
                let byte = |at: i64| self.bytes.get(at as usize).copied().unwrap_or(0);
                for (at, pixel) in (0..).map(|x: i64| start + x * column).zip(out) {
                    *pixel = P::of_bytes(self.channels_of(at, channel, 255, byte));
                }
            }
        }
    }

    fn colour(&self, at: i64, channel: i64) -> [f32; 4] {
        self.channels_of(at, channel, 1.0, |at| match self.element {
            Element::U8 => f32::from(u8::from_ne_bytes(self.number(at))) / 255.0,
            Element::U16 => f32::from(u16::from_ne_bytes(self.number(at))) / 65535.0,
            Element::F16 => f16::from_ne_bytes(self.number(at)).to_f32(),
            Element::F32 => f32::from_ne_bytes(self.number(at)),
        })
    }

    fn channels_of<T: Copy>(&self, at: i64, channel: i64, opaque: T, value: impl Fn(i64) -> T) -> [T; 4] {
        let first = value(at);
        match self.channels {
            1 => [first, first, first, opaque],
            3 => [first, value(at + channel), value(at + 2 * channel), opaque],
            _ => [first, value(at + channel), value(at + 2 * channel), value(at + 3 * channel)],
        }
    }

    /// Zero outside of the bytes, which `check` has ruled out.
    fn number<const N: usize>(&self, at: i64) -> [u8; N] {
        self.bytes.get(at as usize..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
}
