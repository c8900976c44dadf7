//! Arrays from files.

#[cfg(feature = "exr")]
mod exr;
mod npy;

use crate::array::Array;
use crate::error::ReadError;
use crate::film::Film;
use image::{DynamicImage, ImageReader, Limits};
use pixelferry_look::Number;
use pixelferry_media::source::Source;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek as _};
use std::path::Path;

/// Most bytes that a picture may unpack to: a small file may claim to be as large as it likes.
const MOST_BYTES: u64 = 4 << 30;
/// First bytes of a picture of OpenEXR.
const EXR: &[u8] = b"\x76\x2f\x31\x01";
/// First bytes of pictures that are read.
const PICTURES: [&[u8]; 2] = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"];

/// Contents of a file.
pub struct Opened {
    /// Arrays, at least one: of a video its first frame, of OpenEXR each channel or colour of each layer.
    pub arrays: Vec<Array>,
    /// A video, whose next frames play in the place of the first.
    pub film: Option<Film>,
}

impl Opened {
    /// Reads a `.npy` file, a PNG, a JPEG, with the feature `exr` a picture of OpenEXR, or a video: Y4M, or what GStreamer decodes of MP4,
    /// Matroska, WebM, AVI, MPEG-TS and H.264. Its first bytes say which. `name` is that of the array, and what those of several begin
    /// with.
    ///
    /// # Errors
    /// [`ReadError`]. Whatever a `.npy` file or a video says, no more memory is taken than it has bytes, but some five times as much for
    /// a frame of a video; a picture may unpack to 4 GiB.
    pub fn open(path: &Path, name: &str) -> Result<Self, ReadError> {
        let mut file = File::open(path)?;
        // Pipes by name have no length.
        let there = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
        if there.is_some() {
            let is_video = Source::is_decoded(&first(&mut file)?);
            file.rewind()?;
            if is_video {
                return Self::play(Source::of(file)?, name);
            }
        }
        Self::read_from(BufReader::new(file), name, there)
    }

    /// Reads the same from a stream, such as standard input, as far as the array goes; `there` are its bytes, where that is known.
    ///
    /// # Errors
    /// Those of [`Opened::open`].
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
    from.take(8).read_to_end(&mut first)?;
    Ok(first)
}

/// Reads arrays whose first bytes were read.
fn read(mut first: Vec<u8>, from: impl Read, name: &str, there: Option<u64>) -> Result<Vec<Array>, ReadError> {
    if first.starts_with(npy::MAGIC) {
        return npy::read(&first, from, name, there).map(|array| vec![array]);
    }
    if first.starts_with(EXR) {
        #[cfg(feature = "exr")]
        return exr::read(first, from, name);
        #[cfg(not(feature = "exr"))]
        return Err(ReadError::WithoutExr);
    }
    if PICTURES.iter().any(|magic| first.starts_with(magic)) {
        from.take(MOST_BYTES).read_to_end(&mut first)?;
        return picture(&first, name).map(|array| vec![array]);
    }
    Err(ReadError::Format(first))
}

fn picture(bytes: &[u8], name: &str) -> Result<Array, ReadError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_BYTES);
    reader.limits(limits);
    let (picture, deep) = match reader.decode()? {
        // Two channels are red and green elsewhere.
        grey @ DynamicImage::ImageLumaA8(_) => (DynamicImage::ImageRgba8(grey.into_rgba8()), false),
        grey @ DynamicImage::ImageLumaA16(_) => (DynamicImage::ImageRgba16(grey.into_rgba16()), true),
        other => {
            let deep = other.as_flat_samples_u16().is_some();
            (other, deep)
        }
    };
    let [height, width] = [picture.height(), picture.width()].map(i64::from);
    let channels = i64::from(picture.color().channel_count());
    let shape = if channels == 1 { vec![height, width] } else { vec![height, width, channels] };
    let number = Number { code: 1, bits: if deep { 16 } else { 8 }, foreign: false };
    // In this machine's byte order.
    Array::new(name, picture.as_bytes(), shape, number)
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn what_is_no_array_is_said() {
        let of = |bytes: &[u8]| match of_bytes(bytes) {
            Err(error) => error.to_string(),
            Ok(_) => "read".into(),
        };
        assert!(of(b"GIF89a..").contains("47, 49, 46") && of(b"").contains("neither an array"));
        assert!(!of(b"\x89PNG\r\n\x1a\nnonsense").is_empty() && of(b"\x89PNG\r\n\x1a\nnonsense") != "read");
        assert_ne!(of(b"\xff\xd8\xff\xe0"), "read");
        // A picture of 2^31 x 2^31 pixels in some bytes.
        let mut huge = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x10\x06\0\0\0".to_vec();
        huge.extend([0; 64]);
        assert_ne!(of(&huge), "read");
    }
}
