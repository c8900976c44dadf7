//! Reads arrays from files.

#[cfg(feature = "exr")]
mod exr;
mod npy;
mod npz;
mod picture;

use crate::array::Array;
use crate::error::ReadError;
use crate::film::Film;
use pixelferry_media::memory;
use pixelferry_media::source::Source;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek as _};
use std::path::Path;

pub use picture::{decode, is_picture};

/// First bytes of an OpenEXR picture.
const EXR: &[u8] = b"\x76\x2f\x31\x01";
/// Number of leading bytes that identify a format.
const FIRST: u64 = 12;

/// Contents of a file.
pub struct FileContent {
    /// At least one array: of a video its first frame, of OpenEXR each channel or colour of each layer.
    pub arrays: Vec<Array>,
    /// A video, whose next frames replace the first as it plays.
    pub film: Option<Film>,
}

impl FileContent {
    /// Reads a `.npy` file, an array of a `.npz` file (`file.npz:name`), a picture (PNG, JPEG, WebP, TIFF, BMP; OpenEXR
    /// with the feature `exr`), or a video: Y4M, or MP4, Matroska, WebM, AVI, MPEG-TS and H.264 if GStreamer decodes
    /// it. The file's first bytes select the format. `name` becomes the array's name, or the start of the names if the
    /// file has several. Pictures are rotated as their EXIF data says.
    ///
    /// # Errors
    /// [`ReadError`]. A `.npy` file never takes more memory than it has bytes, whatever its header claims.
    /// Formats that unpack to more are refused before decoding if all copies would take more than 1 GiB, or than the
    /// environment variable `PIXELFERRY_MEMORY_MIB` allows.
    pub fn open(path: &Path, name: &str) -> Result<Self, ReadError> {
        if let Some((archive, member)) = npz::member(path) {
            return Ok(Self { arrays: vec![npz::read(File::open(archive)?, Some(&member), name)?], film: None });
        }
        let mut file = File::open(path)?;
        // Named pipes have no length.
        let there = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
        if there.is_some() {
            let first = first(&mut file)?;
            file.rewind()?;
            if npz::MAGIC.iter().any(|magic| first.starts_with(magic)) {
                return Ok(Self { arrays: vec![npz::read(file, None, name)?], film: None });
            }
            if Source::is_decoded(&first) && !is_picture(&first) {
                return Self::play(Source::of(file)?, name);
            }
        }
        Self::read_from(BufReader::new(file), name, there)
    }

    /// Reads an array from a stream, such as standard input, and no further. `there` is the number of bytes, if known.
    ///
    /// # Errors
    /// Those of [`FileContent::open`].
    pub fn read_from(mut from: impl Read + Send + 'static, name: &str, there: Option<u64>) -> Result<Self, ReadError> {
        let first = first(&mut from)?;
        if !Source::is_y4m(&first) {
            return Ok(Self { arrays: read(first, from, name, there)?, film: None });
        }
        Self::play(Source::y4m(Cursor::new(first).chain(from))?, name)
    }

    fn play(mut video: Source, name: &str) -> Result<Self, ReadError> {
        let arrays = vec![Array::of_frame(name, &video.next_frame()?.ok_or(ReadError::NoFrame)?)?];
        Ok(Self { arrays, film: Some(Film::play(name, video)?) })
    }
}

fn first(from: &mut impl Read) -> Result<Vec<u8>, ReadError> {
    let mut first = Vec::new();
    from.take(FIRST).read_to_end(&mut first)?;
    Ok(first)
}

/// Reads the rest of a file that is decoded in one piece.
fn all(from: impl Read, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
    from.take(memory::most().saturating_add(1)).read_to_end(bytes)?;
    Ok(memory::check(bytes.len() as u128)?)
}

/// Reads arrays, given the first bytes of the file.
fn read(mut first: Vec<u8>, from: impl Read, name: &str, there: Option<u64>) -> Result<Vec<Array>, ReadError> {
    if first.starts_with(npy::MAGIC) {
        return npy::read(Cursor::new(first).chain(from), name, there, false).map(|array| vec![array]);
    }
    if first.starts_with(EXR) {
        #[cfg(feature = "exr")]
        return exr::read(first, from, name);
        #[cfg(not(feature = "exr"))]
        return Err(ReadError::WithoutExr);
    }
    if is_picture(&first) {
        all(from, &mut first)?;
        return picture::read(&first, name).map(|array| vec![array]);
    }
    Err(ReadError::Format(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::DynamicImage;
    use pixelferry_look::{Request, Spot, Value};

    fn of_bytes(mut bytes: &[u8]) -> Result<Array, ReadError> {
        let first = first(&mut bytes)?;
        read(first, bytes, "a", None).map(|mut arrays| arrays.remove(0))
    }

    /// A picture as a file, and the values of its pixel (1, 0).
    fn values(picture: DynamicImage) -> (String, Vec<Value>) {
        let mut file = Cursor::new(Vec::new());
        picture.write_to(&mut file, image::ImageFormat::Png).unwrap();
        let array = of_bytes(file.get_ref()).unwrap();
        let plane = array.plane(&Request::default()).unwrap();
        let spot = Spot { image: 0, row: 0, column: 1 };
        (plane.summary(), array.read(&plane.span, |bytes| plane.values(bytes, spot)).unwrap())
    }

    #[test]
    fn pictures_are_arrays_of_their_own_depth() {
        let grey = image::ImageBuffer::from_fn(5, 3, |x, _| image::Luma([x as u16 * 1000]));
        let (said, of) = values(DynamicImage::ImageLuma16(grey));
        assert!(said.starts_with("uint16 as HW, 5x3; range 0 to 65535") && of == [Value::Whole(1000)], "{said}");
        let colours = image::RgbImage::from_fn(4, 3, |x, y| image::Rgb([x as u8, y as u8, 7]));
        let (said, of) = values(DynamicImage::ImageRgb8(colours));
        assert!(said.starts_with("uint8 as HWC, 4x3") && of == [1, 0, 7].map(Value::Whole), "{said}");
        let alpha = image::ImageBuffer::from_fn(4, 3, |x, _| image::LumaA([x as u8, 200]));
        let (_, of) = values(DynamicImage::ImageLumaA8(alpha));
        assert_eq!(of, [1, 1, 1, 200].map(Value::Whole));
    }

    /// EXIF with an orientation only.
    fn exif(orientation: u8) -> Vec<u8> {
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", &[orientation, 0, 0, 0, 0, 0, 0, 0][..]].concat()
    }

    /// A TIFF of 3 x 2 grey pixels.
    fn tiff(orientation: u8, pixels: [u8; 6]) -> Vec<u8> {
        let tags = [
            (256, 3),
            (257, 2),
            (258, 8),
            (259, 1),
            (262, 1),
            (273, 8),
            (274, orientation),
            (277, 1),
            (278, 2),
            (279, 6),
        ];
        let mut file = [b"II*\0\x10\0\0\0", &pixels[..], &[0, 0], &(tags.len() as u16).to_le_bytes()].concat();
        for (tag, value) in tags {
            file.extend([&u16::to_le_bytes(tag)[..], &[3, 0, 1, 0, 0, 0, value, 0, 0, 0]].concat());
        }
        [file, vec![0; 4]].concat()
    }

    #[test]
    fn pictures_are_turned_as_their_exif_says() {
        use image::ImageEncoder as _;
        use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
        // Rows of 3 levels, far enough from each other for JPEG.
        let stored = [0, 50, 100, 150, 200, 250];
        let turned: [(&[i64; 2], [usize; 6]); 8] = [
            (&[2, 3], [0, 1, 2, 3, 4, 5]),
            (&[2, 3], [2, 1, 0, 5, 4, 3]),
            (&[2, 3], [5, 4, 3, 2, 1, 0]),
            (&[2, 3], [3, 4, 5, 0, 1, 2]),
            (&[3, 2], [0, 3, 1, 4, 2, 5]),
            (&[3, 2], [3, 0, 4, 1, 5, 2]),
            (&[3, 2], [5, 2, 4, 1, 3, 0]),
            (&[3, 2], [2, 5, 1, 4, 0, 3]),
        ];
        for (orientation, (shape, order)) in (1..).zip(turned) {
            let grey = image::GrayImage::from_raw(3, 2, stored.to_vec()).unwrap();
            let large = image::imageops::resize(&grey, 48, 32, image::imageops::FilterType::Nearest);
            let colours = DynamicImage::ImageLuma8(large).into_rgb8();
            let mut files = vec![("TIFF", tiff(orientation, stored))];
            let encoded = |name, with: &dyn Fn(&mut Vec<u8>)| {
                let mut file = Vec::new();
                with(&mut file);
                (name, file)
            };
            files.push(encoded("JPEG", &|file| {
                let mut encoder = JpegEncoder::new_with_quality(file, 95);
                encoder.set_exif_metadata(exif(orientation)).unwrap();
                encoder.write_image(&colours, 48, 32, image::ExtendedColorType::Rgb8).unwrap();
            }));
            files.push(encoded("PNG", &|file| {
                let mut encoder = PngEncoder::new(file);
                encoder.set_exif_metadata(exif(orientation)).unwrap();
                encoder.write_image(&colours, 48, 32, image::ExtendedColorType::Rgb8).unwrap();
            }));
            files.push(encoded("WebP", &|file| {
                let mut encoder = WebPEncoder::new_lossless(file);
                encoder.set_exif_metadata(exif(orientation)).unwrap();
                encoder.write_image(&colours, 48, 32, image::ExtendedColorType::Rgb8).unwrap();
            }));
            for (name, file) in files {
                let array = of_bytes(&file).unwrap();
                let plane = array.plane(&Request::default()).unwrap();
                let scale = if name == "TIFF" { 1 } else { 16 };
                let sides = [plane.height, plane.width].map(|side| i64::from(side / scale));
                assert_eq!(sides, *shape, "{name}, orientation {orientation}");
                for (at, from) in order.into_iter().enumerate() {
                    let [row, column] =
                        [at / shape[1] as usize, at % shape[1] as usize].map(|n| n as u32 * scale + scale / 2);
                    let spot = Spot { image: 0, row, column };
                    let found = array.read(&plane.span, |bytes| plane.values(bytes, spot)).unwrap()[0];
                    let off = f64::from(found) - f64::from(stored[from]);
                    assert!(off.abs() < 8.0, "{name}, orientation {orientation}: {found} for {}", stored[from]);
                }
            }
        }
        assert_eq!(of_bytes(&tiff(99, stored)).unwrap().plane(&Request::default()).unwrap().width, 3);
    }

    #[test]
    fn what_claims_to_be_large_is_refused_before_it_is_decoded() {
        let claiming = |side: u16, format| {
            let (mut file, colours) = (Cursor::new(Vec::new()), image::RgbImage::new(32, 24));
            colours.write_to(&mut file, format).unwrap();
            let mut file = file.into_inner();
            let sides = [u32::from(side); 2];
            match format {
                image::ImageFormat::Jpeg => {
                    let at = file.windows(2).position(|mark| mark == b"\xff\xc0").unwrap() + 5;
                    file[at..at + 4].copy_from_slice(&[side, side].map(u16::to_be_bytes).concat());
                }
                image::ImageFormat::Bmp => file[18..26].copy_from_slice(&sides.map(u32::to_le_bytes).concat()),
                _ => {
                    file[16..24].copy_from_slice(&sides.map(u32::to_be_bytes).concat());
                    let mut crc = png_crc(&file[12..29]).to_be_bytes().to_vec();
                    file.splice(29..33, crc.drain(..));
                }
            }
            file
        };
        for format in [image::ImageFormat::Png, image::ImageFormat::Jpeg, image::ImageFormat::Bmp] {
            let refused = of_bytes(&claiming(30_000, format)).map(drop);
            let Err(ReadError::TooLarge(why)) = refused else { panic!("{format:?}: {refused:?}") };
            // As decoded, and what it becomes on the screen.
            assert!(
                why.needed >= (900_000_000 * 23) >> 20 && why.to_string().contains("PIXELFERRY_MEMORY_MIB"),
                "{why}"
            );
        }
        for format in [image::ImageFormat::Png, image::ImageFormat::Bmp] {
            assert!(of_bytes(&claiming(24, format)).is_ok(), "{format:?}");
        }
    }

    fn png_crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)))
        })
    }

    #[test]
    fn what_is_no_array_is_said() {
        let of = |bytes: &[u8]| match of_bytes(bytes) {
            Err(error) => error.to_string(),
            Ok(_) => "read".into(),
        };
        assert!(of(b"GIF89a..").contains("47, 49, 46") && of(b"").contains("neither a NumPy array"));
        assert!(!of(b"\x89PNG\r\n\x1a\nnonsense").is_empty() && of(b"\x89PNG\r\n\x1a\nnonsense") != "read");
        assert_ne!(of(b"\xff\xd8\xff\xe0"), "read");
        // A picture of 2^31 x 2^31 pixels in some bytes.
        let mut huge = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x10\x06\0\0\0".to_vec();
        huge.extend([0; 64]);
        assert_ne!(of(&huge), "read");
    }
}
