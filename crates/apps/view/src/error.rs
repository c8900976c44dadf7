//! Reasons why an array cannot be read or shown.

use crate::paint::PaintError;
use pixelferry::SaveError;
use pixelferry_look::Refusal;
use std::io;
use thiserror::Error;

/// Suggests how to convert a picture whose compression or chroma subsampling is unsupported.
#[cfg(feature = "exr")]
const fn instead(error: &exr::error::Error) -> &'static str {
    match error {
        exr::error::Error::NotSupported(_) => {
            "; convert the file with ImageMagick first: magick FILE.exr -compress Zip OTHER.exr (in ImageMagick 6 the \
             command is called convert)"
        }
        _ => "",
    }
}

fn of_archive(wanted: Option<&str>, known: &[String]) -> String {
    let Some(first) = known.first() else { return "the .npz file contains no arrays".into() };
    let missing = wanted.map(|name| format!("there is no array {name:?}: ")).unwrap_or_default();
    format!("{missing}the .npz file contains {}; open one of them as FILE.npz:{first}", known.join(", "))
}

/// Reason why a file could not be read as an array.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system could not read the file.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file's format is unsupported.
    #[error(
        "unsupported file format: it is neither a NumPy array (.npy, .npz), a picture (PNG, JPEG, WebP, TIFF, BMP, \
         OpenEXR) nor a video (Y4M, MP4, Matroska, AVI or MPEG-TS); its first bytes are {0:02x?}"
    )]
    Format(Vec<u8>),
    /// A `.npz` file contains several arrays and none was named, or the named one is missing.
    #[error("{}", of_archive(wanted.as_deref(), known))]
    Archive {
        /// Requested name.
        wanted: Option<String>,
        /// Names of the arrays in the file.
        known: Vec<String>,
    },
    /// A `.npz` file is damaged.
    #[error("cannot read the .npz file: {0}; write it again with numpy.savez")]
    Zip(#[from] zip::result::ZipError),
    /// The content is larger than the memory limit allows.
    #[error(transparent)]
    TooLarge(#[from] pixelferry_media::memory::TooLarge),
    /// The header of a `.npy` file is invalid.
    #[error("invalid .npy header: {0}; write the file again with numpy.save")]
    Header(String),
    /// The bytes end before the array does.
    #[error("too few bytes: an array of shape {shape:?} needs {needed}, but there are {there}")]
    Short {
        /// Shape of the array.
        shape: Vec<i64>,
        /// Number of bytes that the array needs.
        needed: usize,
        /// Number of available bytes.
        there: u64,
    },
    /// A `.npy` file goes on after its array.
    #[error(
        "too many bytes: an array of shape {shape:?} needs {needed}, but there are {there}; write the file again with \
         numpy.save, each array into a file of its own"
    )]
    Long {
        /// Shape of the array.
        shape: Vec<i64>,
        /// Number of bytes that the array needs.
        needed: usize,
        /// Number of available bytes.
        there: u64,
    },
    /// The number type or the shape is unsupported.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// This program was built without support for OpenEXR.
    #[error(
        "this is an OpenEXR picture, and this program was built without the feature `exr`; build it with that \
             feature"
    )]
    WithoutExr,
    /// An OpenEXR picture is damaged or uses an unsupported feature.
    #[cfg(feature = "exr")]
    #[error("cannot read the OpenEXR picture: {0}{hint}", hint = instead(.0))]
    Exr(#[from] exr::error::Error),
    /// A video is damaged or cannot be decoded.
    #[error(transparent)]
    Video(#[from] pixelferry_media::source::SourceError),
    /// A video has no frames.
    #[error("the video has no frames")]
    NoFrame,
    /// A picture is damaged or too large.
    #[error(transparent)]
    Picture(#[from] image::ImageError),
    /// A small file would take far more time or memory than other pictures of its size.
    #[error(
        "{what}; convert the file with ImageMagick first: magick {instead} (in ImageMagick 6 the command is called convert)"
    )]
    Excessive {
        /// What is excessive.
        what: String,
        /// Files and options for the suggested conversion.
        instead: &'static str,
    },
    /// A stream delivered no frame.
    #[error("stream {name:?}: {reason}")]
    Stream {
        /// Name of the stream.
        name: String,
        /// Reason, in words.
        reason: String,
    },
    /// Allocating memory for the array failed.
    #[error(transparent)]
    Memory(#[from] pixelferry::Error),
}

/// Reason why an array cannot be shown.
#[derive(Debug, Error)]
pub enum ViewError {
    /// Shape, number type and look do not match.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Memory for an array from the network could not be allocated.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A driver or the window system failed.
    #[error(transparent)]
    Driver(#[from] pixelferry::Error),
    /// Drawing the grid or text failed.
    #[error(transparent)]
    Paint(#[from] PaintError),
    /// Writing the picture failed.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// Writing the film failed.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// Serving the page failed.
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Web(#[from] pixelferry_media::web::Error),
    /// Encoding a picture for browsers failed.
    #[cfg(feature = "serve")]
    #[error("cannot encode a picture for browsers: {0}")]
    Pack(#[from] pixelferry_media::wire::WireError),
    /// The system provides no random numbers, so strangers could guess the page's token.
    #[cfg(feature = "serve")]
    #[error("cannot make the page's token without random numbers: {0}")]
    Token(String),
}
