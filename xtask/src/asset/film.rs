//! From linear light to 8-bit sRGB: exposure, shoulder, vignette and grain.

use super::math::{Vec3, smoothstep, vec3};
use super::noise;

/// Develops one pixel; `at` is its place, 0..1 both ways, `pixel` and `frame` seed its grain.
pub fn develop(light: Vec3, at: (f32, f32), pixel: (i32, i32), frame: u32) -> [u8; 3] {
    let (dx, dy) = (at.0 - 0.5, at.1 - 0.5);
    let vignette = 1.0 - 0.38 * smoothstep(0.35, 1.05, (dx * dx * 1.7 + dy * dy).sqrt() * 1.25);
    let graded = (light * (0.74 * vignette)).map(filmic);
    // A little colour lost to the eye of the evening, a little warmth kept in the lights.
    let grey = graded.luminance();
    let toned = vec3(grey, grey, grey).mixed(graded, 1.10).map(|c| c.clamp(0.0, 1.0));
    let strength = 0.016 * (1.0 - 0.6 * grey);
    let grain = strength * gaussian(pixel, frame);
    let code = |c: f32, tint: f32| ((srgb(c) + grain + tint).clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let tint = 0.35 * strength * gaussian(pixel, frame ^ 0x5bd1);
    [code(toned.x, tint), code(toned.y, 0.0), code(toned.z, -tint)]
}

/// Shoulder and toe after Narkowicz's fit of the ACES curve (2016).
fn filmic(x: f32) -> f32 {
    ((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14)).clamp(0.0, 1.0)
}

/// IEC 61966-2-1 encoding.
fn srgb(c: f32) -> f32 {
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// Sum of four uniforms: near enough to normal for grain; unit variance.
fn gaussian(pixel: (i32, i32), frame: u32) -> f32 {
    let sum: f32 = (0..4).map(|i| noise::unit(pixel.0, pixel.1, frame.wrapping_mul(131).wrapping_add(7919 * i))).sum();
    (sum - 2.0) * 1.732
}
