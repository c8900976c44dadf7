//! The conversions that kernels in C have from [`pixelferry::driver::compute::CONVERT_SOURCE`], for closures in Rust.

use half::f16;

/// `pf_unorm8`: 0 to 1 as 0 to 255, rounded; what lies outside is clamped, NaN is 0.
pub fn unorm8(v: f32) -> u8 {
    (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// `pf_rgba8`.
pub fn rgba8([r, g, b]: [f32; 3], alpha: f32) -> [u8; 4] {
    [r, g, b, alpha].map(unorm8)
}

/// `pf_half` of four channels: the nearest binary16, ties to even.
pub fn rgba16f([r, g, b]: [f32; 3], alpha: f32) -> [f16; 4] {
    [r, g, b, alpha].map(f16::from_f32)
}

/// `pf_srgb`: linear light by the curve of IEC 61966-2-1.
pub fn srgb(v: f32) -> f32 {
    let v = v.clamp(0.0, 1.0);
    if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// `pf_tonemap_reinhard` of one channel.
pub fn reinhard(v: f32) -> f32 {
    v / (1.0 + v)
}

/// `pf_tonemap_aces` of one channel.
pub fn aces(v: f32) -> f32 {
    let v = v.max(0.0);
    (v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middles_are_known() {
        assert_eq!([f32::NAN, -1.0, 0.5, 1.0, 9.0].map(unorm8), [0, 0, 128, 255, 255]);
        assert!((srgb(0.5) - 0.735_357).abs() < 1e-5 && srgb(0.0) == 0.0 && (srgb(1.0) - 1.0).abs() < 1e-6);
        assert_eq!((reinhard(0.0), reinhard(1.0)), (0.0, 0.5));
        assert!(aces(-1.0) == 0.0 && aces(100.0) == 1.0 && (aces(0.18) - 0.267).abs() < 1e-3);
        assert_eq!(rgba16f([0.5, 1.0, 2.0], 1.0).map(f16::to_bits), [0x3800, 0x3c00, 0x4000, 0x3c00]);
    }
}
