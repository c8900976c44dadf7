//! Conversion of pixels in any format to 8-bit RGBA.

use interop_core::compute::zeros;
use interop_core::describe::error::call;
use interop_core::draw::{Plan, paint};
use interop_core::{DrawOptions, Error, ImageDesc, ImageView, PixelFormat, Result};

/// A picture in the form that image encoders accept: sRGB numbers with straight alpha.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RgbaImage {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue and alpha of each pixel, in tight rows, the top row first.
    pub data: Vec<u8>,
}

impl RgbaImage {
    /// Converts tight rows, top row first, such as [`interop_core::Surface::read_back`] returns. One channel becomes grey,
    /// and two become red and green; a missing alpha is opaque. Light is exposed and tone mapped as `options` say, and
    /// encoded ([`Plan::picture`]). Other floating-point channels are clamped to 0..=1 (NaN becomes 0) and rounded.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `bytes` does not have the size of such an image, or the options do not suit it;
    /// [`Error::Unavailable`] where there is too little memory.
    pub fn from_image(image: &ImageDesc, bytes: &[u8], options: &DrawOptions) -> Result<Self> {
        call("RgbaImage::from_image", || {
            let (extent, format) = (image.extent, image.format);
            let wanted = extent.pixels().checked_mul(format.bytes_per_pixel() as u64);
            if wanted != Some(bytes.len() as u64) {
                return Err(Error::refused(format!(
                    "{} bytes do not match an image of {extent} {format}",
                    bytes.len()
                )));
            }
            let plan = Plan::picture(image, options)?;
            let len = (bytes.len() / format.bytes_per_pixel()).saturating_mul(4);
            let mut data = zeros(len)?;
            let views = [format, PixelFormat::Rgba8].map(|format| ImageView::packed(extent, format, 1, 0, false));
            let [from, to] = views;
            paint(&plan, (bytes, &from?), (&mut data, &to?), (0, 0))?;
            Ok(Self { width: extent.width, height: extent.height, data })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use interop_core::Extent;
    use interop_core::{AlphaMode, Encoding, ToneMap};

    fn from_rows(extent: Extent, format: PixelFormat, bytes: &[u8]) -> Result<RgbaImage> {
        RgbaImage::from_image(&ImageDesc::new(extent.width, extent.height, format), bytes, &DrawOptions::default())
    }

    fn convert(format: PixelFormat, bytes: &[u8]) -> Vec<u8> {
        let width = (bytes.len() / format.bytes_per_pixel()) as u32;
        from_rows(Extent::new(width, 1), format, bytes).unwrap().data
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
    fn light_is_encoded_and_alpha_is_straight() {
        let plain = DrawOptions::default();
        let floats: [f32; 8] = [0.5, 0.0, 4.0, 1.0, 0.25, 0.0, 0.0, 0.5];
        let image = ImageDesc::new(2, 1, PixelFormat::Rgba32F).with_encoding(Encoding::Linear);
        let picture = |alpha, options| {
            RgbaImage::from_image(&image.with_alpha(alpha), bytemuck::cast_slice(&floats), &options).unwrap().data
        };
        assert_eq!(picture(AlphaMode::Stored, plain), [188, 0, 255, 255, 137, 0, 0, 128]);
        assert_eq!(picture(AlphaMode::Straight, plain), [188, 0, 255, 255, 137, 0, 0, 128]);
        assert_eq!(picture(AlphaMode::Opaque, plain), [188, 0, 255, 255, 137, 0, 0, 255]);
        assert_eq!(picture(AlphaMode::Premultiplied, plain), [188, 0, 255, 255, 188, 0, 0, 128]);
        let white = plain.with_background([1.0; 3]);
        assert_eq!(picture(AlphaMode::Premultiplied, white)[4..], [225, 188, 188, 255]);
        let toned = plain.with_tone_map(ToneMap::Reinhard { white: 4.0 }).with_exposure(1.0);
        // Twice (0.5, 0, 4) has luminance 0.79, by which the red 1 becomes 0.586.
        assert_eq!(picture(AlphaMode::Opaque, toned)[0], 201);
        // Numbers that are sRGB already stay.
        let bytes = [1, 2, 3, 4, 250, 128, 0, 0];
        for alpha in [AlphaMode::Stored, AlphaMode::Straight] {
            let image = ImageDesc::new(2, 1, PixelFormat::Rgba8).with_encoding(Encoding::Srgb).with_alpha(alpha);
            assert_eq!(RgbaImage::from_image(&image, &bytes, &plain).unwrap().data, bytes);
        }
    }

    #[test]
    fn wrong_sizes_are_refused() {
        for bytes in [0, 15, 17] {
            let bytes = vec![0; bytes];
            assert!(from_rows(Extent::new(2, 2), PixelFormat::Rgba8, &bytes).is_err());
        }
        assert!(from_rows(Extent::new(u32::MAX, u32::MAX), PixelFormat::Rgba32F, &[]).is_err());
        assert!(from_rows(Extent::new(0, 2), PixelFormat::Rgba8, &[]).is_err());
    }
}
