//! Videos that GStreamer decodes.

use super::frame::{Frame, Frames};
use crate::error::ReadError;
use pixelferry_media::video::Decoder;
use std::fs::File;
use std::time::Duration;

/// First bytes of files with videos, and where they are: MP4, Matroska and WebM, AVI, MPEG-TS, H.264.
const MAGIC: [(usize, &[u8]); 5] =
    [(4, b"ftyp"), (0, b"\x1a\x45\xdf\xa3"), (0, b"RIFF"), (0, b"\x47\x40"), (0, b"\0\0\0\x01")];

/// True for what begins as a video.
pub fn is_video(first: &[u8]) -> bool {
    MAGIC.iter().any(|(at, magic)| first.get(*at..).is_some_and(|rest| rest.starts_with(magic)))
}

/// A video that is decoded frame by frame.
pub struct Decoding {
    decoder: Decoder,
    period: Duration,
}

impl Decoding {
    /// Starts from the file's beginning.
    pub fn open(file: File) -> Result<Self, ReadError> {
        Ok(Self { decoder: Decoder::open(file)?, period: Duration::ZERO })
    }
}

impl Frames for Decoding {
    fn period(&self) -> Duration {
        self.period
    }

    fn next_frame(&mut self) -> Result<Option<Frame>, ReadError> {
        let Some(picture) = self.decoder.next_picture()? else { return Ok(None) };
        self.period = picture.period;
        let bytes = picture.planes.rgb(&picture.bytes);
        let needed = picture.planes.bytes();
        let bytes = bytes.ok_or(ReadError::Decoded { needed, there: picture.bytes.len() })?;
        Ok(Some(Frame::rgb(bytes, picture.planes.extent())))
    }
}
