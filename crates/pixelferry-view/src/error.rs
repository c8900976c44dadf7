//! Reasons why an array is not read or shown.

use crate::paint::PaintError;
use pixelferry::SaveError;
use pixelferry_look::Refusal;
use std::io;
use thiserror::Error;

/// The line that makes a picture that is read of one whose compression or chroma is not.
#[cfg(feature = "exr")]
const fn instead(error: &exr::error::Error) -> &'static str {
    match error {
        exr::error::Error::NotSupported(_) => {
            "; ImageMagick makes one that is read: magick FILE.exr -compress Zip OTHER.exr (convert, in version 6)"
        }
        _ => "",
    }
}

fn of_archive(wanted: Option<&str>, known: &[String]) -> String {
    let Some(first) = known.first() else { return "the .npz file holds no array".into() };
    let missing = wanted.map(|name| format!("there is no array {name:?}: ")).unwrap_or_default();
    format!("{missing}the .npz file holds {}; open one of them as FILE.npz:{first}", known.join(", "))
}

/// Reason why a file gives no array.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system did not give its bytes.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is of no format that is read.
    #[error(
        "it is neither an array of NumPy's (.npy, .npz), a picture (PNG, JPEG, WebP, TIFF, BMP, OpenEXR) nor a video (Y4M, or a file of MP4, \
         Matroska, AVI or MPEG-TS): it begins with {0:02x?}"
    )]
    Format(Vec<u8>),
    /// A `.npz` file holds several arrays, and which is not said, or not there.
    #[error("{}", of_archive(wanted.as_deref(), known))]
    Archive {
        /// Name that was asked for.
        wanted: Option<String>,
        /// Names of what it holds.
        known: Vec<String>,
    },
    /// A `.npz` file is damaged.
    #[error("the .npz file is not read: {0}; write it again with numpy.savez")]
    Zip(#[from] zip::result::ZipError),
    /// It claims to be larger than is allowed.
    #[error(transparent)]
    TooLarge(#[from] pixelferry_media::memory::TooLarge),
    /// The header of a `.npy` file is not one that NumPy writes.
    #[error("the .npy header is damaged: {0}; write the file again with numpy.save")]
    Header(String),
    /// It ends before the array does.
    #[error("it ends too early: {shape:?} needs {needed} bytes, and {there} are there")]
    Short {
        /// Shape by the header.
        shape: Vec<i64>,
        /// Bytes that an array of it has.
        needed: usize,
        /// Bytes that follow the header.
        there: u64,
    },
    /// Elements that are not shown, or a shape that has no meaning.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// This program was built without a format.
    #[error("it is a picture of OpenEXR, which this program was built without: build it with the feature exr")]
    WithoutExr,
    /// A picture of OpenEXR is damaged, or has what is not read.
    #[cfg(feature = "exr")]
    #[error("the OpenEXR picture is not read: {0}{hint}", hint = instead(.0))]
    Exr(#[from] exr::error::Error),
    /// A video is damaged, or not decoded.
    #[error(transparent)]
    Video(#[from] pixelferry_media::source::SourceError),
    /// A video has no frame at all.
    #[error("the video has no frame")]
    NoFrame,
    /// The picture is damaged, or too large.
    #[error(transparent)]
    Picture(#[from] image::ImageError),
    /// A small file would take far more time or memory than pictures of its size do.
    #[error("{what}; ImageMagick makes one that does not: magick {instead} (convert, in version 6)")]
    Excessive {
        /// What is too much.
        what: String,
        /// The files and options.
        instead: &'static str,
    },
    /// A stream gave no frame.
    #[error("stream {name:?}: {reason}")]
    Stream {
        /// Its name.
        name: String,
        /// Reason why there is none.
        reason: String,
    },
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] pixelferry::Error),
}

/// Reason why an array is not shown.
#[derive(Debug, Error)]
pub enum ViewError {
    /// Shape, numbers and look do not go together.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// An array that came over the network has no memory.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A driver or the window system failed.
    #[error(transparent)]
    Driver(#[from] pixelferry::Error),
    /// Grid and text were not drawn.
    #[error(transparent)]
    Paint(#[from] PaintError),
    /// The picture was not written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The film was not written.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// No page is served.
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Web(#[from] pixelferry_media::web::Error),
    /// A picture was not packed for browsers.
    #[cfg(feature = "serve")]
    #[error("a picture was not packed: {0}")]
    Pack(#[from] pixelferry_media::wire::WireError),
    /// The system gives no random numbers, without which strangers would guess the page's token.
    #[cfg(feature = "serve")]
    #[error("no random numbers for the page's token: {0}")]
    Token(String),
}
