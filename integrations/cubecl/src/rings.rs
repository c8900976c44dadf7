//! The kernel of the example and the tests: one source for devices and for the host.

#![allow(missing_docs, reason = "of what `cube` makes")]

use cubecl_core::{self as cubecl, prelude::*};

/// Returns the colour of a pixel as RGBA8; runs in CubeCL on a device, and as a Rust function on the host.
#[cube]
pub fn shade(x: u32, y: u32, t: f32) -> u32 {
    let (x, y) = (x as f32, y as f32);
    let v = 0.5 + 0.5 * f32::sin(0.1 * f32::sqrt(x * x + y * y) - t);
    let red = (255.0 * v + 0.5) as u32;
    red | 0xff_a1_59_00
}

/// Writes every pixel of a picture that is `width` pixels wide.
#[cube(launch)]
pub fn rings(pixels: &mut [u32], width: u32, t: f32) {
    if ABSOLUTE_POS < pixels.len() {
        let at = ABSOLUTE_POS as u32;
        pixels[ABSOLUTE_POS] = shade(at % width, at / width, t);
    }
}
