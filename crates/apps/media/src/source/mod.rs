//! Reads videos frame by frame: Y4M from any source of bytes, and files that GStreamer decodes.

mod error;
mod frame;
mod y4m;

pub use error::SourceError;
pub use frame::Frame;

use crate::video::Decoder;
use std::fs::File;
use std::io::{BufReader, Read, Seek as _};
use std::path::Path;
use std::time::Duration;

/// First bytes, and their offsets, of files that GStreamer decodes: MP4, Matroska and WebM, AVI, MPEG-TS, H.264.
const MAGIC: [(usize, &[u8]); 5] =
    [(4, b"ftyp"), (0, b"\x1a\x45\xdf\xa3"), (0, b"RIFF"), (0, b"\x47\x40"), (0, b"\0\0\0\x01")];

/// A video whose frames are read one after the other, as fast as the caller asks for them.
///
///
/// ```
/// use pixelferry_media::source::Source;
///
/// // As another program writes it to a pipe.
/// let film = b"YUV4MPEG2 W2 H1 F25:1 Cmono XCOLORRANGE=FULL\nFRAME\n\x07\x64FRAME\n\x08\x65";
/// let mut source = Source::y4m(&film[..])?;
/// let size = source.peek()?.map(|frame| (frame.extent().width, frame.extent().height));
/// assert_eq!(size, Some((2, 1)));
/// let frame = source.next_frame()?.expect("two frames");
/// assert_eq!(frame.rgba(), [7, 7, 7, 255, 100, 100, 100, 255]);
/// assert!(source.next_frame()?.is_some() && source.next_frame()?.is_none());
/// # Ok::<(), pixelferry_media::source::SourceError>(())
/// ```
///
/// Threads: any, one at a time.
pub struct Source {
    kind: Kind,
    period: Duration,
    /// The next frame, if `peek` has read it.
    ahead: Option<Frame>,
}

enum Kind {
    Y4m(Box<y4m::Video<Box<dyn Read + Send>>>),
    Decoded(Box<Decoder>),
}

impl Source {
    /// Opens a video file: Y4M, or what GStreamer decodes of MP4, Matroska, WebM, AVI, MPEG-TS and H.264. Its first
    /// bytes select the format.
    ///
    /// # Errors
    /// [`SourceError::File`], [`SourceError::Format`]; [`SourceError::Decode`] if GStreamer is missing.
    pub fn video(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        Self::of(File::open(path)?)
    }

    /// Like [`Source::video`], for an open file, from its beginning.
    ///
    /// # Errors
    /// Those of [`Source::video`].
    pub fn of(mut file: File) -> Result<Self, SourceError> {
        let mut first = Vec::new();
        file.by_ref().take(8).read_to_end(&mut first)?;
        file.rewind()?;
        if Self::is_y4m(&first) {
            return Self::y4m(BufReader::new(file));
        }
        if !Self::is_decoded(&first) {
            return Err(SourceError::Format(first));
        }
        Ok(Self { kind: Kind::Decoded(Box::new(Decoder::open(file)?)), period: Duration::ZERO, ahead: None })
    }

    /// Reads a Y4M video from a pipe, a socket, standard input or memory. This call reads its header; `from` should be
    /// buffered.
    ///
    /// # Errors
    /// [`SourceError`] for a missing or invalid header.
    pub fn y4m(from: impl Read + Send + 'static) -> Result<Self, SourceError> {
        let video = y4m::Video::open(Box::new(from) as Box<dyn Read + Send>)?;
        let period = video.period;
        Ok(Self { kind: Kind::Y4m(Box::new(video)), period, ahead: None })
    }

    /// Returns whether the first 8 bytes are those of Y4M.
    pub fn is_y4m(first: &[u8]) -> bool {
        first.starts_with(y4m::MAGIC)
    }

    /// Returns whether the first 8 bytes are those of a format that GStreamer may decode.
    pub fn is_decoded(first: &[u8]) -> bool {
        MAGIC.iter().any(|(at, magic)| first.get(*at..).is_some_and(|rest| rest.starts_with(magic)))
    }

    /// Duration of a frame; for a decoded file it is known from the first frame on.
    pub const fn period(&self) -> Duration {
        self.period
    }

    /// Returns the next frame without consuming it, for example to allocate memory for its size. `None` at the end.
    ///
    /// # Errors
    /// Those of [`Source::next_frame`].
    pub fn peek(&mut self) -> Result<Option<&Frame>, SourceError> {
        if self.ahead.is_none() {
            self.ahead = self.next_frame()?;
        }
        Ok(self.ahead.as_ref())
    }

    /// Reads the next frame; `None` at the end.
    ///
    /// # Errors
    /// [`SourceError`] for a video that is damaged or cannot be decoded. A Y4M frame never takes more memory than it
    /// has bytes, whatever the header claims.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        if let Some(frame) = self.ahead.take() {
            return Ok(Some(frame));
        }
        match &mut self.kind {
            Kind::Y4m(video) => video.next_frame(),
            Kind::Decoded(decoder) => {
                let Some(picture) = decoder.next_picture()? else { return Ok(None) };
                self.period = picture.period;
                Frame::new(picture.planes.clone(), picture.bytes).map(Some)
            }
        }
    }
}
