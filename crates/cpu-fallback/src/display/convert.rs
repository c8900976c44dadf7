//! Pixels of every format as 8-bit RGBA.

use half::f16;
use interop_core::{Error, Extent, PixelFormat, Result};

/// A picture that any image encoder takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RgbaImage {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green, blue and alpha of each pixel, tight rows, the top row first.
    pub data: Vec<u8>,
}

impl RgbaImage {
    /// Converts tight rows, such as [`interop_core::Surface::read_back`] returns, top row first.
    ///
    /// One channel becomes grey, two are red and green; a missing alpha is opaque. Floating-point channels are
    /// clamped to 0..1 (NaN is 0) and rounded.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `bytes` is not the size of such an image, [`Error::Unavailable`] where there is
    /// not enough memory.
    pub fn from_rows(extent: Extent, format: PixelFormat, bytes: &[u8]) -> Result<Self> {
        const OP: &str = "RgbaImage::from_rows";
        let wanted = extent.pixels().checked_mul(format.bytes_per_pixel() as u64);
        if wanted != Some(bytes.len() as u64) {
            return Err(Error::invalid(OP, format!("{} bytes are not an image of {extent} {format}", bytes.len())));
        }
        let pixels = bytes.len() / format.bytes_per_pixel();
        let len = pixels.saturating_mul(4);
        let mut data = Vec::new();
        data.try_reserve_exact(len).map_err(|e| Error::Unavailable {
            what: format!("host memory of {len} bytes"),
            reason: e.to_string(),
            hint: "Convert a smaller part or free memory.".into(),
        })?;
        let grey = |v: u8| [v, v, v, 255];
        let pixels = bytes.chunks_exact(format.bytes_per_pixel());
        match format {
            PixelFormat::R8 => pixels.for_each(|p| data.extend(grey(p[0]))),
            PixelFormat::Rg8 => pixels.for_each(|p| data.extend([p[0], p[1], 0, 255])),
            PixelFormat::Rgba8 => data.extend_from_slice(bytes),
            PixelFormat::R32F => pixels.for_each(|p| data.extend(grey(unorm8(f32_at(p, 0))))),
            PixelFormat::Rgba16F => pixels.for_each(|p| data.extend([0, 1, 2, 3].map(|c| unorm8(f16_at(p, c))))),
            PixelFormat::Rgba32F => pixels.for_each(|p| data.extend([0, 1, 2, 3].map(|c| unorm8(f32_at(p, c))))),
            _ => return Err(Error::invalid(OP, format!("{format} has no conversion to RGBA8"))),
        }
        Ok(Self { width: extent.width, height: extent.height, data })
    }
}

fn f32_at(pixel: &[u8], channel: usize) -> f32 {
    let at = 4 * channel;
    f32::from_ne_bytes([pixel[at], pixel[at + 1], pixel[at + 2], pixel[at + 3]])
}

fn f16_at(pixel: &[u8], channel: usize) -> f32 {
    let at = 2 * channel;
    f16::from_ne_bytes([pixel[at], pixel[at + 1]]).to_f32()
}

/// 0..1 as 0..=255, rounded; a cast to an integer saturates and makes NaN 0.
fn unorm8(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(format: PixelFormat, bytes: &[u8]) -> Vec<u8> {
        let width = (bytes.len() / format.bytes_per_pixel()) as u32;
        RgbaImage::from_rows(Extent::new(width, 1), format, bytes).unwrap().data
    }

    #[test]
    fn every_format_is_converted() {
        assert_eq!(convert(PixelFormat::R8, &[0, 200]), [0, 0, 0, 255, 200, 200, 200, 255]);
        assert_eq!(convert(PixelFormat::Rg8, &[7, 9]), [7, 9, 0, 255]);
        assert_eq!(convert(PixelFormat::Rgba8, &[1, 2, 3, 4]), [1, 2, 3, 4]);
        let greys: [f32; 3] = [0.5, -1.0, f32::NAN];
        let expected = [128, 128, 128, 255, 0, 0, 0, 255, 0, 0, 0, 255];
        assert_eq!(convert(PixelFormat::R32F, bytemuck::cast_slice(&greys)), expected);
        let halves = [0.0, 0.2, 1.0, 70_000.0].map(f16::from_f32);
        assert_eq!(convert(PixelFormat::Rgba16F, bytemuck::cast_slice(&halves)), [0, 51, 255, 255]);
        let floats: [f32; 4] = [f32::INFINITY, f32::NEG_INFINITY, 0.4, 0.6];
        assert_eq!(convert(PixelFormat::Rgba32F, bytemuck::cast_slice(&floats)), [255, 0, 102, 153]);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        for bytes in [0, 15, 17] {
            let bytes = vec![0; bytes];
            assert!(RgbaImage::from_rows(Extent::new(2, 2), PixelFormat::Rgba8, &bytes).is_err());
        }
        assert!(RgbaImage::from_rows(Extent::new(u32::MAX, u32::MAX), PixelFormat::Rgba32F, &[]).is_err());
    }
}
