//! Pictures from links, as files.

use cpu_fallback::RgbaImage;
use image::{ImageBuffer, Rgba};
use interop_core::{Error, Link, RowOrder, SurfaceDesc};
use std::path::{Path, PathBuf};

/// Why a picture was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The frame could not be read.
    #[error(transparent)]
    Frame(#[from] Error),
    /// The file could not be written.
    #[error("cannot save the picture to {}: {source}", path.display())]
    File {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: image::ImageError,
    },
}

/// The shown frame as 8-bit RGBA, top row first: single channels become grey, floats are cut to 0..=1.
///
/// # Errors
/// [`Error::NothingShown`], [`Error::InvalidInput`] for a buffer, and what the display reports.
pub fn picture(link: &mut Link) -> Result<ImageBuffer<Rgba<u8>, Vec<u8>>, Error> {
    const OP: &str = "picture";
    let SurfaceDesc::Image(desc) = *link.shown()?.desc() else {
        return Err(Error::invalid(OP, "the link carries a buffer, not an image"));
    };
    let rgba = RgbaImage::from_rows(desc.extent, desc.format, &link.read_back()?)?;
    let mut picture = ImageBuffer::from_raw(rgba.width, rgba.height, rgba.data)
        .ok_or_else(|| Error::invalid(OP, "the display gave fewer pixels than the surface has"))?;
    if desc.row_order == RowOrder::BottomUp {
        image::imageops::flip_vertical_in_place(&mut picture);
    }
    Ok(picture)
}

/// Saves the shown frame; the ending of `path` says the format (`.png`, `.jpg`).
pub fn save_picture(link: &mut Link, path: impl AsRef<Path>) -> Result<(), SaveError> {
    let path = path.as_ref();
    let picture = picture(link)?;
    save_rgba8(picture, path)
}

/// Saves 8-bit RGBA pixels; JPEG drops the alpha channel.
pub fn save_rgba8(picture: ImageBuffer<Rgba<u8>, Vec<u8>>, path: &Path) -> Result<(), SaveError> {
    let jpeg = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jpg") || e.eq_ignore_ascii_case("jpeg"));
    let dynamic = image::DynamicImage::ImageRgba8(picture);
    let result = if jpeg { dynamic.into_rgb8().save(path) } else { dynamic.save(path) };
    result.map_err(|source| SaveError::File { path: path.to_owned(), source })
}
