//! Conversions of [`pixelferry::driver::compute::CONVERT_SOURCE`], which kernels in C use, for closures in Rust.

use pixelferry::driver::describe::color::Curve;

/// `pf_unorm8`: rounds 0 to 1 to 0 to 255; values outside are clamped, NaN becomes 0.
pub fn unorm8(v: f32) -> u8 {
    (v.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Rounds 0 to 1 to 0 to 65535; values outside are clamped, NaN becomes 0.
pub fn unorm16(v: f32) -> u16 {
    (v.clamp(0.0, 1.0) * 65535.0 + 0.5) as u16
}

/// Packs red, green and blue of 10 bits, from the lowest bit, and alpha of 2.
pub fn rgb10a2([r, g, b, alpha]: [f32; 4]) -> u32 {
    let bits = |v: f32, most: f32| (v.clamp(0.0, 1.0) * most + 0.5) as u32;
    bits(r, 1023.0) | bits(g, 1023.0) << 10 | bits(b, 1023.0) << 20 | bits(alpha, 3.0) << 30
}

/// `pf_rgba8`.
pub fn rgba8([r, g, b]: [f32; 3], alpha: f32) -> [u8; 4] {
    [r, g, b, alpha].map(unorm8)
}

/// `pf_srgb`: encodes linear light with the curve of IEC 61966-2-1.
pub fn srgb(v: f32) -> f32 {
    Curve::Srgb.encode(v.clamp(0.0, 1.0))
}

/// `pf_tonemap_reinhard` for one channel.
pub fn reinhard(v: f32) -> f32 {
    v / (1.0 + v)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_middles_are_known() {
        assert_eq!([f32::NAN, -1.0, 0.5, 1.0, 9.0].map(unorm8), [0, 0, 128, 255, 255]);
        assert!((srgb(0.5) - 0.735_357).abs() < 1e-5 && srgb(0.0) == 0.0 && (srgb(1.0) - 1.0).abs() < 1e-6);
        assert_eq!([f32::NAN, -1.0, 0.5, 1.0].map(unorm16), [0, 0, 32768, 65535]);
        assert_eq!(rgb10a2([1.0, 0.0, 0.5, 0.4]), 1023 | 512 << 20 | 1 << 30);
        assert_eq!((reinhard(0.0), reinhard(1.0)), (0.0, 0.5));
    }
}
