//! Errors, typed.

use crate::video::Error;
use std::io;

/// Reason why a video has no next frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The system did not give its bytes.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is no video that is read.
    #[error("it is no video (Y4M, or a file of MP4, Matroska, AVI, MPEG-TS or H.264): it begins with {0:02x?}")]
    Format(Vec<u8>),
    /// It is not as Y4M says.
    #[error("the video is damaged at byte {at}: {reason}")]
    Damaged {
        /// Place of what is wrong, from the first byte on.
        at: u64,
        /// The fault, in words.
        reason: String,
    },
    /// It ends within a frame.
    #[error("the video ends at byte {at}, within frame {frame}, where {missing} bytes of a plane are missing")]
    Cut {
        /// Bytes that are there.
        at: u64,
        /// Frame, from 0 on.
        frame: u64,
        /// Bytes that its plane of luma or chroma lacks.
        missing: usize,
    },
    /// Its colours are in a format that is not read.
    #[error(
        "its colours are {0:?}; 420jpeg, 420mpeg2, 420paldv, 420, 422, 444 and mono are read: write it as one, as by ffmpeg -pix_fmt yuv420p"
    )]
    Colours(String),
    /// It is not decoded.
    #[error("the video is not decoded: {0}")]
    Decode(#[from] Error),
    /// A decoder gave another picture than it said.
    #[error("a picture of the video has {there} bytes, where its size needs {needed}")]
    Decoded {
        /// Bytes that a picture of its size has.
        needed: usize,
        /// Bytes that it has.
        there: usize,
    },
}
