//! Saves pictures of links as files.

use crate::files::check_writable;
use cpu_fallback::RgbaImage;
use image::error::EncodingError;
use image::{ImageBuffer, ImageError, ImageFormat, ImageResult, Rgba};
use interop_core::{DrawOptions, Error, LinkCore, RowOrder, SurfaceDesc};
use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Reason why a picture was not saved.
///
/// ```
/// use pixelferry::*;
///
/// let builder = LinkBuilder::new(SurfaceDesc::image(1, 1, PixelFormat::Rgba8));
/// let mut link = builder.backend(BackendChoice::Cpu).display(DisplayChoice::Memory).open()?.link;
/// assert!(matches!(save_picture(&mut link, "a.png"), Err(SaveError::Frame(Error::NothingShown))));
/// link.frame(|next| next.write(&[255, 0, 0, 255]))?;
/// assert!(matches!(save_picture(&mut link, "a.webp"), Err(SaveError::Format { .. })));
/// assert!(matches!(save_picture(&mut link, "absent/a.png"), Err(SaveError::File { .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The frame could not be read.
    #[error(transparent)]
    Frame(#[from] Error),
    /// The file name extension is not that of a supported format.
    #[error("cannot save the picture to {}: unsupported file name extension; use .png or .jpg", path.display())]
    Format {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file could not be written.
    #[error("cannot save the picture to {}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The encoder's error.
        source: image::ImageError,
    },
}

impl SaveError {
    /// Returns the system's error, where it rejected the file.
    #[must_use]
    pub fn io_error(&self) -> Option<&std::io::Error> {
        match self {
            Self::File { source: ImageError::IoError(error), .. } => Some(error),
            _ => None,
        }
    }
}

/// Writes the same text as `Display`, like [`Error`].
impl fmt::Debug for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the shown frame as 8-bit RGBA, top row first, in the form that files need: sRGB numbers with straight alpha.
/// Single channels become grey; light is encoded and clipped to 0..=1; numbers without an encoding are used unchanged.
///
/// # Errors
/// [`Error::NothingShown`]; [`Error::InvalidInput`] for a buffer; errors of the display.
pub fn picture(link: &mut LinkCore) -> Result<ImageBuffer<Rgba<u8>, Vec<u8>>, Error> {
    picture_with(link, &DrawOptions::default())
}

/// Returns the shown frame like [`picture`], but exposed, tone mapped and over a background as `options` say. Their
/// fit, filter and target are ignored.
///
/// # Errors
/// Those of [`picture`]; [`Error::InvalidInput`] for options that do not suit the surface.
pub fn picture_with(link: &mut LinkCore, options: &DrawOptions) -> Result<ImageBuffer<Rgba<u8>, Vec<u8>>, Error> {
    const OP: &str = "picture";
    let SurfaceDesc::Image(desc) = *link.shown()?.desc() else {
        return Err(Error::invalid(OP, "the link carries a buffer, not an image"));
    };
    let rgba = RgbaImage::from_image(&desc, &link.read_back()?, options)?;
    let mut picture = ImageBuffer::from_raw(rgba.width, rgba.height, rgba.data)
        .ok_or_else(|| Error::invalid(OP, "the display returned fewer pixels than the surface has"))?;
    if desc.row_order == RowOrder::BottomUp {
        image::imageops::flip_vertical_in_place(&mut picture);
    }
    Ok(picture)
}

/// Returns the shown frame like [`picture`], encoded as a PNG file.
///
/// ```
/// use pixelferry::*;
///
/// let builder = LinkBuilder::new(SurfaceDesc::image(1, 1, PixelFormat::Rgba8));
/// let mut link = builder.backend(BackendChoice::Cpu).display(DisplayChoice::Memory).open()?.link;
/// assert!(matches!(picture_png(&mut link), Err(Error::NothingShown)));
/// link.frame(|next| next.write(&[255, 0, 0, 255]))?;
/// assert!(picture_png(&mut link)?.starts_with(b"\x89PNG"));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// Those of [`picture`]; [`Error::InvalidInput`] for a size that PNG does not support.
pub fn picture_png(link: &mut LinkCore) -> Result<Vec<u8>, Error> {
    let mut png = Vec::new();
    write_png(&picture(link)?, &mut png).map_err(|e| Error::invalid("picture_png", e.to_string()))?;
    Ok(png)
}

/// Saves the shown frame; the file name extension selects the format (`.png`, `.jpg`).
pub fn save_picture(link: &mut LinkCore, path: impl AsRef<Path>) -> Result<(), SaveError> {
    save_picture_with(link, path, &DrawOptions::default())
}

/// Saves the shown frame as [`picture_with`] returns it.
pub fn save_picture_with(link: &mut LinkCore, path: impl AsRef<Path>, options: &DrawOptions) -> Result<(), SaveError> {
    save_rgba8(picture_with(link, options)?, path.as_ref())
}

/// Checks whether a picture can be saved to `path`, before it is computed.
///
/// # Errors
/// [`SaveError::Format`] for a file name extension other than `.png` and `.jpg`; [`SaveError::File`] where the file
/// cannot be written.
pub fn check_picture_file(path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    format(path)?;
    check_writable(path).map_err(|error| SaveError::File { path: path.to_owned(), source: ImageError::IoError(error) })
}

fn format(path: &Path) -> Result<ImageFormat, SaveError> {
    match ImageFormat::from_path(path) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => Ok(format),
        _ => Err(SaveError::Format { path: path.to_owned() }),
    }
}

/// Saves 8-bit RGBA pixels, which are sRGB numbers. A PNG says so; a JPEG, which drops the alpha channel, is assumed to
/// be sRGB.
pub fn save_rgba8(picture: ImageBuffer<Rgba<u8>, Vec<u8>>, path: &Path) -> Result<(), SaveError> {
    let result = match format(path)? {
        ImageFormat::Png => File::create(path).map_err(Into::into).and_then(|f| write_png(&picture, BufWriter::new(f))),
        other => image::DynamicImage::ImageRgba8(picture).into_rgb8().save_with_format(path, other),
    };
    result.map_err(|source| SaveError::File { path: path.to_owned(), source })
}

/// Encodes like the crate `image`, with the additional chunk that names the colour space (PNG, third edition,
/// 11.3.2.5).
fn write_png(picture: &ImageBuffer<Rgba<u8>, Vec<u8>>, to: impl Write) -> ImageResult<()> {
    let mut encoder = png::Encoder::new(to, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let refused = |e| match e {
        png::EncodingError::IoError(e) => ImageError::IoError(e),
        e => ImageError::Encoding(EncodingError::new(ImageFormat::Png.into(), e)),
    };
    let mut writer = encoder.write_header().map_err(refused)?;
    writer.write_image_data(picture.as_raw()).map_err(refused)?;
    writer.finish().map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pngs_say_that_they_are_srgb() {
        let path = std::env::temp_dir().join(format!("pixelferry-picture-{}.PNG", std::process::id()));
        let pixels: Vec<u8> = (0..24).map(|i| i * 10).collect();
        let picture = ImageBuffer::from_raw(3, 2, pixels.clone()).unwrap();
        save_rgba8(picture, &path).unwrap();
        let decoder = png::Decoder::new(std::io::BufReader::new(File::open(&path).unwrap()));
        let reader = decoder.read_info().unwrap();
        assert_eq!(reader.info().srgb, Some(png::SrgbRenderingIntent::Perceptual));
        drop(reader);
        let found = image::ImageReader::open(&path).unwrap().decode().unwrap().into_rgba8();
        assert_eq!((found.dimensions(), found.into_raw()), ((3, 2), pixels));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn places_that_cannot_be_written_are_errors() {
        let save = |path: &str| save_rgba8(ImageBuffer::from_raw(1, 1, vec![0; 4]).unwrap(), Path::new(path));
        let absent = std::env::temp_dir().join(format!("none of {}", std::process::id()));
        for path in ["a.png", "a.jpg"].map(|name| absent.join(name).to_string_lossy().into_owned()) {
            let path = path.as_str();
            for error in [save(path).unwrap_err(), check_picture_file(path).unwrap_err()] {
                assert!(matches!(&error, SaveError::File { path: p, .. } if p == Path::new(path)), "{error}");
                assert!(error.io_error().is_some_and(|e| e.kind() == std::io::ErrorKind::NotFound), "{error}");
            }
        }
        for path in ["a.unknown", "a.webp", "a", ".", ""] {
            for error in [save(path).unwrap_err(), check_picture_file(path).unwrap_err()] {
                assert!(error.to_string().contains("use .png or .jpg"), "{error}");
                assert_eq!(format!("{error:?}"), error.to_string(), "what `main` prints");
            }
        }
    }
}
