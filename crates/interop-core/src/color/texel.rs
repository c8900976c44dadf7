//! One pixel of any format as four numbers.

use crate::format::PixelFormat;
use half::f16;

/// Four numbers from the bytes of a pixel, as a sampler gives them: missing channels are 0, a missing alpha is 1, bytes
/// are `0..=1`. `pixel` is at least as long as one pixel.
pub fn load(format: PixelFormat, pixel: &[u8]) -> [f32; 4] {
    let unorm = |c: usize| f32::from(pixel[c]) / 255.0;
    let half = |c: usize| f16::from_ne_bytes([pixel[2 * c], pixel[2 * c + 1]]).to_f32();
    let float = |c: usize| f32::from_ne_bytes([pixel[4 * c], pixel[4 * c + 1], pixel[4 * c + 2], pixel[4 * c + 3]]);
    match format {
        PixelFormat::R8 => [unorm(0), 0.0, 0.0, 1.0],
        PixelFormat::Rg8 => [unorm(0), unorm(1), 0.0, 1.0],
        PixelFormat::Rgba8 => [0, 1, 2, 3].map(unorm),
        PixelFormat::Rgba16F => [0, 1, 2, 3].map(half),
        PixelFormat::R32F => [float(0), 0.0, 0.0, 1.0],
        PixelFormat::Rgba32F => [0, 1, 2, 3].map(float),
    }
}

/// Writes four numbers as a target does: bytes are cut to 0..=1 (NaN is 0) and rounded, channels that the format lacks
/// are dropped. `pixel` is at least as long as one pixel.
pub fn store(format: PixelFormat, color: [f32; 4], pixel: &mut [u8]) {
    // A cast to an integer makes NaN 0.
    let unorm = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round() as u8;
    match format {
        PixelFormat::R8 => pixel[0] = unorm(color[0]),
        PixelFormat::Rg8 => pixel[..2].copy_from_slice(&[unorm(color[0]), unorm(color[1])]),
        PixelFormat::Rgba8 => pixel[..4].copy_from_slice(&color.map(unorm)),
        PixelFormat::Rgba16F => {
            let channels = color.map(|v| f16::from_f32(v).to_ne_bytes());
            pixel[..8].copy_from_slice(channels.as_flattened());
        }
        PixelFormat::R32F => pixel[..4].copy_from_slice(&color[0].to_ne_bytes()),
        PixelFormat::Rgba32F => pixel[..16].copy_from_slice(color.map(f32::to_ne_bytes).as_flattened()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_comes_back() {
        for format in PixelFormat::ALL {
            // 64 and 128 alternately: floats of any size that are finite.
            let bytes: Vec<u8> = (0..16).map(|i| if i % 2 == 1 { 64 } else { 128 }).collect();
            let len = format.bytes_per_pixel();
            let mut back = [0; 16];
            store(format, load(format, &bytes), &mut back);
            assert_eq!(back[..len], bytes[..len], "{format}");
            assert_eq!(back[len..], [0; 16][len..], "{format} writes one pixel");
        }
    }

    #[test]
    fn bytes_are_cut_and_rounded() {
        let mut pixel = [9; 4];
        store(PixelFormat::Rgba8, [f32::NAN, 7.0, -1.0, 0.5], &mut pixel);
        assert_eq!(pixel, [0, 255, 0, 128]);
        assert_eq!(load(PixelFormat::Rg8, &[255, 0]), [1.0, 0.0, 0.0, 1.0]);
    }
}
