//! The errors of recordings.

use crate::video;
use pixelferry::SaveError;
use std::io;
use std::path::PathBuf;

/// Reason why a film was not written, and a hint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file name extension is not that of a supported film.
    #[error(
        "{} has no supported extension; use .mp4, .mkv, .ts, .h264 or .y4m, or - for Y4M on standard output",
        .0.display()
    )]
    Name(PathBuf),
    /// A picture's name without a frame number.
    #[error("{} would hold one picture; put %05d in place of the frame number, as in frames/%05d.png", .0.display())]
    Pattern(PathBuf),
    /// A file could not be written.
    #[error("cannot write the film to {to}: {source}")]
    Write {
        /// Name of the file.
        to: String,
        /// The system's error.
        source: io::Error,
    },
    /// A picture could not be saved.
    #[error(transparent)]
    Picture(#[from] SaveError),
    /// The encoder is missing, or ended.
    #[error(transparent)]
    Video(#[from] video::Error),
    /// A frame could not be read.
    #[error(transparent)]
    Frame(#[from] interop_core::Error),
    /// The system gives no thread.
    #[error("no thread for the film: {0}")]
    Thread(io::Error),
    /// The film ended earlier with an error that was already returned.
    #[error("the film has ended; start another one")]
    Ended,
}
