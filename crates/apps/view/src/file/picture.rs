//! Pictures as cameras and programs write them, rotated as their EXIF data says.

use crate::array::Array;
use crate::error::ReadError;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use pixelferry_look::Number;
use pixelferry_media::memory;
use std::io::Cursor;
use tiff::decoder::Decoder as TiffReader;
use tiff::tags::{CompressionMethod, Tag};

/// Returns whether the first bytes are those of a supported picture format.
pub fn is_picture(first: &[u8]) -> bool {
    image::guess_format(first).is_ok_and(|format| format.reading_enabled())
}

/// Decodes a picture and rotates it as its EXIF data says. `shown` is the number of bytes that each pixel takes
/// afterwards.
///
/// # Errors
/// [`ReadError::TooLarge`] before decoding if all copies together would exceed the memory limit,
/// [`ReadError::Excessive`] and [`ReadError::Picture`].
pub fn decode(bytes: &[u8], shown: u64) -> Result<DynamicImage, ReadError> {
    let (mut decoder, format) = decoder(bytes)?;
    let is_jpeg = format == Some(ImageFormat::Jpeg);
    let ((width, height), decoded) = (decoder.dimensions(), u128::from(decoder.total_bytes()));
    // The copies: decoded, rotated, and with other channels. While a progressive JPEG is decoded, it keeps two bytes
    // per sample.
    let copies = decoded * if is_jpeg { 3 } else { 2 };
    let kept = decoded + u128::from(width) * u128::from(height) * u128::from(shown);
    memory::check(bytes.len() as u128 + copies.max(kept))?;

    let scans = if is_jpeg { scans(bytes) } else { 0 };
    // A picture within the memory limit may always have twenty scans; even the most careful encoders use no more.
    if scans * u64::from(width) * u64::from(height) > memory::most() {
        let what = format!("decoding the {scans} scans of this JPEG of {width} x {height} pixels would take minutes");
        return Err(ReadError::Excessive { what, instead: "FILE.jpg -interlace None OTHER.jpg" });
    }
    if format == Some(ImageFormat::Tiff) && has_larger_jpeg(bytes) {
        let what = "the TIFF contains JPEGs that are progressive or larger than their strips or tiles".into();
        return Err(ReadError::Excessive { what, instead: "FILE.tif -compress LZW OTHER.tif" });
    }

    // Damaged EXIF data is ignored.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Makes a decoder, which reads the header.
fn decoder(bytes: &[u8]) -> Result<(impl ImageDecoder + '_, Option<ImageFormat>), ReadError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let format = reader.format();
    let mut limits = Limits::default();
    // For a PNG this limits what it contains besides pixels, because a compressed colour profile can unpack to any
    // size.
    limits.max_alloc = Some(memory::most() / if format == Some(ImageFormat::Png) { 16 } else { 1 });
    reader.limits(limits);
    Ok((reader.into_decoder()?, format))
}

/// Counts the scans of a JPEG by the headers that the decoder accepts.
fn scans(bytes: &[u8]) -> u64 {
    let is_scan = |at: &&[u8]| matches!(at, [0xff, 0xda, 0, length, channels @ 1..=4] if *length == 6 + 2 * channels);
    bytes.windows(5).filter(is_scan).count() as u64
}

/// Returns whether a TIFF contains JPEGs that need more memory or time than the TIFF's size suggests: each is decoded
/// whole for its strip or tile.
fn has_larger_jpeg(bytes: &[u8]) -> bool {
    let Ok(mut reader) = TiffReader::new(Cursor::new(bytes)) else { return false };
    let (width, height) = reader.chunk_dimensions();
    let is_larger = |at: &[u8]| match *at {
        [0xff, kind @ 0xc0..=0xc2, 0, length, 8, a, b, c, d, channels]
            if u16::from(length) == 8 + 3 * u16::from(channels) =>
        {
            let [rows, columns] = [[a, b], [c, d]].map(|side| u64::from(u16::from_be_bytes(side)));
            kind == 0xc2 || rows * columns > u64::from(width) * u64::from(height)
        }
        _ => false,
    };
    let packed = reader.get_tag_u32(Tag::Compression).unwrap_or(0);
    packed == u32::from(CompressionMethod::ModernJPEG.to_u16()) && bytes.windows(10).any(is_larger)
}

/// Reads a picture as an array that keeps its bit depth.
pub fn read(bytes: &[u8], name: &str) -> Result<Array, ReadError> {
    let picture = match decode(bytes, memory::SHOWN)? {
        // Elsewhere, two channels mean red and green.
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
    // The bytes are in native byte order.
    Array::new(name, picture.as_bytes(), shape, number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::ImageEncoder as _;
    use image::codecs::png::PngEncoder;

    fn segment(mark: u8, body: &[u8]) -> Vec<u8> {
        [&[0xff, mark][..], &(body.len() as u16 + 2).to_be_bytes(), body].concat()
    }

    /// A grey JPEG without content, whose frame begins with the mark.
    fn jpeg(mark: u8, [rows, columns]: [u16; 2], scans: usize) -> Vec<u8> {
        let frame = [&[8][..], &rows.to_be_bytes(), &columns.to_be_bytes(), &[1, 1, 0x11, 0]].concat();
        let scans = segment(0xda, &[1, 1, 0, 1, 63, 0]).repeat(scans);
        [&[0xff, 0xd8][..], &segment(mark, &frame), &scans, &[0xff, 0xd9]].concat()
    }

    /// A grey TIFF of 16 x 16 in one strip.
    fn tiff(packed: u16, strip: &[u8]) -> Vec<u8> {
        let len = strip.len() as u16;
        let tags = [(256, 16), (257, 16), (258, 8), (259, packed), (262, 1), (273, 8), (277, 1), (278, 16), (279, len)];
        let mut file = [b"II*\0", &(u32::from(len) + 8).to_le_bytes()[..], strip, &[tags.len() as u8, 0]].concat();
        for (tag, value) in tags {
            file.extend([&u16::to_le_bytes(tag)[..], &[3, 0, 1, 0, 0, 0], &value.to_le_bytes(), &[0, 0]].concat());
        }
        [file, vec![0; 4]].concat()
    }

    #[test]
    fn small_files_that_would_take_minutes_or_much_memory_are_refused() {
        let said = |file: &[u8]| match decode(file, 0) {
            Err(error @ ReadError::Excessive { .. }) => error.to_string(),
            _ => String::new(),
        };
        let of_scans = said(&jpeg(0xc2, [7000, 7000], 99));
        assert!(of_scans.contains("99 scans") && of_scans.contains("-interlace None"), "{of_scans}");
        for (side, scans) in [(3000, 99), (64, 99)] {
            assert_eq!(said(&jpeg(0xc2, [side; 2], scans)), "");
        }
        for inside in [jpeg(0xc0, [17, 16], 1), jpeg(0xc1, [16_384; 2], 1), jpeg(0xc2, [16; 2], 1)] {
            let said = [7, 1].map(|packed| said(&tiff(packed, &inside)));
            assert!(said[0].contains("-compress LZW") && said[1].is_empty(), "{said:?}");
        }
        assert_eq!(said(&tiff(7, &jpeg(0xc0, [16; 2], 1))), "");
    }

    #[test]
    fn a_packed_profile_takes_little_memory() {
        let profile = |mib: usize| {
            let mut file = Vec::new();
            let mut encoder = PngEncoder::new(&mut file);
            encoder.set_icc_profile(vec![0; mib << 20]).unwrap();
            encoder.write_image(&[9; 4], 2, 2, image::ExtendedColorType::L8).unwrap();
            // The picture is shown all the same.
            assert!(read(&file, "a").is_ok());
            decoder(&file).unwrap().0.icc_profile().unwrap().map(|bytes| bytes.len() >> 20)
        };
        assert_eq!([1, 80].map(profile), [Some(1), None]);
    }
}
