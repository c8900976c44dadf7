//! Errors, typed.

use crate::video;
use pixelferry::SaveError;
use std::io;
use std::path::PathBuf;

/// Reason why there is no film, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// A name that says no kind of film.
    #[error(
        "{} says no kind of film by its ending; take .mp4, .mkv, .ts or .h264, .y4m, or - for Y4M on standard output",
        .0.display()
    )]
    Name(PathBuf),
    /// A picture's name that is the same for each frame.
    #[error("{} would hold one picture; put %05d where each one's number belongs, as in frames/%05d.png", .0.display())]
    Pattern(PathBuf),
    /// A file that is not written.
    #[error("the film cannot be written to {to}: {source}")]
    Write {
        /// Its name.
        to: String,
        /// The system's words.
        source: io::Error,
    },
    /// A picture that is not saved.
    #[error(transparent)]
    Picture(#[from] SaveError),
    /// No encoder, or one that ended.
    #[error(transparent)]
    Video(#[from] video::Error),
    /// A frame that cannot be read.
    #[error(transparent)]
    Frame(#[from] interop_core::Error),
    /// The system gives no thread.
    #[error("no thread for the film: {0}")]
    Thread(io::Error),
    /// The film ended before, by an error that was given.
    #[error("the film has ended; begin another")]
    Ended,
}
