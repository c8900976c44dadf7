//! Errors of reading videos.

use crate::video::Error;
use std::io;

/// Reason why a video has no next frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Reading failed.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The format is unknown.
    #[error(
        "unknown video format (supported: Y4M, or a file of MP4, Matroska, AVI, MPEG-TS or H.264); it begins with \
             {0:02x?}"
    )]
    Format(Vec<u8>),
    /// A Y4M video is invalid.
    #[error("the video is damaged at byte {at}: {reason}")]
    Damaged {
        /// Position of the fault, in bytes from the start.
        at: u64,
        /// Description of the fault.
        reason: String,
    },
    /// The video ends within a frame.
    #[error("the video ends at byte {at}, within frame {frame}, where {missing} bytes of a plane are missing")]
    Cut {
        /// Number of available bytes.
        at: u64,
        /// Number of the frame, from 0.
        frame: u64,
        /// Number of bytes that its plane of luma or chroma lacks.
        missing: usize,
    },
    /// The colour format is unsupported.
    #[error(
        "unsupported colour format {0:?}; supported are 420jpeg, 420mpeg2, 420paldv, 420, 422, 444 and mono: convert \
         it, for example with ffmpeg -pix_fmt yuv420p"
    )]
    Colours(String),
    /// Decoding failed.
    #[error("cannot decode the video: {0}")]
    Decode(#[from] Error),
    /// A decoder delivered a picture of an unexpected size.
    #[error("a decoded picture has {there} bytes, but its size needs {needed}")]
    Decoded {
        /// Expected number of bytes.
        needed: usize,
        /// Actual number of bytes.
        there: usize,
    },
}
