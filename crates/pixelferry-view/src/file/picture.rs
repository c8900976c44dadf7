//! Pictures as cameras and programs write them, turned as their EXIF says.

use crate::array::Array;
use crate::error::ReadError;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};
use pixelferry_look::Number;
use pixelferry_media::memory;
use std::io::Cursor;

/// True where a file with these first bytes is a picture of a format that is read.
pub fn is_picture(first: &[u8]) -> bool {
    image::guess_format(first).is_ok_and(|format| format.reading_enabled())
}

/// Decodes a picture, and turns it as its EXIF says. `shown` are the bytes that each pixel takes afterwards.
///
/// # Errors
/// [`ReadError::TooLarge`] before anything is decoded, where all copies together would take more memory than is allowed, and
/// [`ReadError::Picture`].
pub fn decode(bytes: &[u8], shown: u64) -> Result<DynamicImage, ReadError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let is_jpeg = reader.format() == Some(ImageFormat::Jpeg);
    let mut limits = Limits::default();
    limits.max_alloc = Some(memory::most());
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let ((width, height), decoded) = (decoder.dimensions(), u128::from(decoder.total_bytes()));
    // Decoded, turned and with other channels; a progressive JPEG keeps two bytes of each sample while it is decoded.
    let copies = decoded * if is_jpeg { 3 } else { 2 };
    let kept = decoded + u128::from(width) * u128::from(height) * u128::from(shown);
    memory::check(bytes.len() as u128 + copies.max(kept))?;
    // Damaged EXIF says nothing.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Reads a picture as an array of its own depth.
pub fn read(bytes: &[u8], name: &str) -> Result<Array, ReadError> {
    let picture = match decode(bytes, memory::SHOWN)? {
        // Two channels are red and green elsewhere.
        grey @ DynamicImage::ImageLumaA8(_) => DynamicImage::ImageRgba8(grey.into_rgba8()),
        grey @ DynamicImage::ImageLumaA16(_) => DynamicImage::ImageRgba16(grey.into_rgba16()),
        other => other,
    };
    let [height, width] = [picture.height(), picture.width()].map(i64::from);
    let channels = picture.color().channel_count();
    let shape = if channels == 1 { vec![height, width] } else { vec![height, width, channels.into()] };
    let is_float = matches!(picture.color(), ColorType::Rgb32F | ColorType::Rgba32F);
    let bits = 8 * usize::from(picture.color().bytes_per_pixel() / channels);
    let number = Number { code: if is_float { 2 } else { 1 }, bits, foreign: false };
    // In this machine's byte order.
    Array::new(name, picture.as_bytes(), shape, number)
}
