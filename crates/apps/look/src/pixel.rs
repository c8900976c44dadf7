//! Pixels as displays store them.

use bytemuck::{Pod, Zeroable};
use half::f16;

/// A pixel in a display's memory.
pub trait Pixel: Pod {
    /// Converts from red, green, blue and alpha in 0..=1.
    fn of_colour(colour: [f32; 4]) -> Self;

    /// Converts from bytes, if that is exact.
    fn of_bytes(colour: [u8; 4]) -> Self {
        Self::of_colour(colour.map(|byte| f32::from(byte) / 255.0))
    }
}

/// Floats of this size and above have no fraction.
const WHOLE: f32 = 8_388_608.0;

/// Rounds a number of 0 to 255 down and clamps it; NaN becomes 0. Compilers do not vectorise the cast.
#[inline(always)]
pub fn floor256(value: f32) -> u32 {
    // Comparisons with NaN are false.
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 255.0 { value } else { 255.0 };
    floored(value) & 0xff
}

/// Rounds a number from 0 to 2^23 down, into its last bits.
#[inline(always)]
fn floored(value: f32) -> u32 {
    let rounded = value + WHOLE;
    rounded.to_bits() - u32::from(rounded - WHOLE > value)
}

/// Returns the nearest of the levels 0 to `MOST` (all bits set) for 0 to 1; 0 for NaN.
#[inline(always)]
fn unorm<const MOST: u32>(value: f32) -> u32 {
    // Comparisons with NaN are false.
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 1.0 { value } else { 1.0 };
    floored(value * MOST as f32 + 0.5) & MOST
}

#[inline(always)]
fn unorm8(value: f32) -> u32 {
    unorm::<0xff>(value)
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
        // As one word, because compilers do not vectorise single bytes.
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
pub struct PackedWord(u32);

impl Pixel for PackedWord {
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
