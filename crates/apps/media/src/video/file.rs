//! Writes pictures to a video file, one per frame.

use super::child::{self, PATIENCE, Raw};
use super::elements::{self, BAD, CORE, Element, GOOD, encoders};
use super::encoder::{Encoder, EncoderReport};
use super::error::Error;
use super::shape::Shape;
use crate::wire::{Header, MessageKind};
use crate::yuv::Yuv;
use bytes::Bytes;
use interop_core::describe::child_process::ChildProcess;
use interop_core::describe::threads;
use interop_core::{Extent, ImageDesc, PixelFormat};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ChildStdin;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A container format, selected by a file's extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Container {
    ending: &'static str,
    /// GStreamer's element with its properties.
    muxer: &'static [&'static str],
    /// Debian package that contains the element.
    package: &'static str,
    /// Stream format that the element accepts.
    format: &'static str,
}

/// MP4 is written in fragments of a second: if the file's end is missing, all but the last one can be played. The same
/// holds for Matroska.
const CONTAINERS: [Container; 4] = [
    Container { ending: "mp4", muxer: &["mp4mux", "fragment-duration=1000"], package: GOOD, format: "avc" },
    Container { ending: "mkv", muxer: &["matroskamux"], package: GOOD, format: "avc" },
    Container { ending: "ts", muxer: &["mpegtsmux"], package: BAD, format: "byte-stream" },
    Container { ending: "h264", muxer: &["identity"], package: CORE, format: "byte-stream" },
];

impl Container {
    /// Returns the container for a file's extension; `None` if the extension is unknown.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        CONTAINERS.into_iter().find(|container| ending.eq_ignore_ascii_case(container.ending))
    }

    /// Checks that GStreamer has the needed elements. An encoder may still fail at its first picture.
    ///
    /// # Errors
    /// Those of [`encoders`].
    pub fn check(&self) -> Result<(), Error> {
        elements::with(&[(self.muxer[0], self.package)]).map(drop)
    }
}

/// Writes a video file of constant frame rate. [`VideoFile::finish`] writes its end, without which it may be hard to
/// play.
///
/// Threads: one.
pub struct VideoFile {
    element: Element,
    picture: Extent,
    film: Extent,
    child: ChildProcess,
    frames: Option<Frames>,
    words: Option<JoinHandle<String>>,
    patience: Duration,
}

/// The thread that writes frames: if the encoder hangs, they stay in its pipe.
struct Frames {
    to: Sender<Vec<u8>>,
    /// Returns the memory of written frames.
    back: Receiver<io::Result<Vec<u8>>>,
    memory: Vec<u8>,
}

impl Frames {
    /// Writes each frame; ends the pipe when the sender is dropped.
    fn start(mut pipe: ChildStdin) -> Result<Self, Error> {
        let (to, frames) = mpsc::channel::<Vec<u8>>();
        let (written, back) = mpsc::channel();
        let work = move || {
            for frame in frames {
                let result = pipe.write_all(&frame).map(|()| frame);
                let is_over = result.is_err();
                // The sender may have stopped waiting.
                if written.send(result).is_err() || is_over {
                    return;
                }
            }
        };
        threads::spawn("encoder-in", work).map_err(Error::Threads)?;
        Ok(Self { to, back, memory: Vec::new() })
    }
}

impl VideoFile {
    /// Starts a file for pictures like `like`, tight rows of RGBA8 with the top one first, with the first encoder that
    /// works.
    ///
    /// # Errors
    /// [`Error::Size`]; those of [`encoders`]; [`Error::Ended`] if no encoder works.
    pub fn start(file: File, container: Container, rate: u32, extent: Extent, like: &[u8]) -> Result<Self, Error> {
        let header = Header::new(
            MessageKind::Picture,
            ImageDesc::new(extent.width, extent.height, PixelFormat::Rgba8),
            extent.full(),
        );
        let message = Bytes::from([&header.to_bytes()[..], like].concat());
        let shape = Shape::of_film(&message)?;
        let (element, film) = (working(shape, &message)?, shape.padded());
        let stream = format!("video/x-h264,stream-format={},alignment=au", container.format);
        let after: Vec<&str> = [&stream, "!"].into_iter().chain(container.muxer.iter().copied()).collect();
        // The child gets the open file, not its name: the pipeline language would interpret names.
        let mut child =
            child::start(&element, &Raw { format: "i420", extent: film, rate: rate.max(1) }, &after, file.into())?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let mut file = Self { element, picture: extent, film, child, frames: None, words: None, patience: PATIENCE };
        file.frames = stdin.map(Frames::start).transpose()?;
        if let Some(pipe) = stderr {
            let words = threads::spawn("encoder-words", || child::words(pipe, &AtomicBool::default()));
            file.words = Some(words.map_err(Error::Threads)?);
        }
        Ok(file)
    }

    /// The encoder.
    pub fn element(&self) -> Element {
        self.element
    }

    /// Process ID of the encoder.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Size of the video: that of the pictures, with one pixel more for an odd side, which H.264 does not support.
    pub fn extent(&self) -> Extent {
        self.film
    }

    /// Converts a picture like the first one to a frame. Repeats the last pixels if a side is odd.
    pub fn frame(&self, pixels: &[u8], frame: &mut Vec<u8>) {
        let Self { picture: extent, film: padded, .. } = self;
        frame.clear();
        if extent == padded {
            return Yuv::bt709().put_420(pixels, padded.width, frame);
        }
        let row = extent.width as usize * 4;
        let mut all = Vec::with_capacity(padded.pixels() as usize * 4);
        for pixels in pixels.chunks_exact(row.max(1)).take(extent.height as usize) {
            all.extend_from_slice(pixels);
            (extent.width..padded.width).for_each(|_| all.extend_from_slice(&pixels[row - 4..]));
        }
        let last = all.len().saturating_sub(padded.width as usize * 4);
        for _ in extent.height..padded.height {
            let end = all.len().min(last + padded.width as usize * 4);
            all.extend_from_within(last..end);
        }
        Yuv::bt709().put_420(&all, padded.width, frame);
    }

    /// Writes a frame. Blocks while the encoder is behind.
    ///
    /// # Errors
    /// [`Error::Ended`] if the encoder has ended, or does not accept the frame within 20 s; it is then killed, and what
    /// it wrote stays.
    pub fn put(&mut self, frame: &[u8]) -> Result<(), Error> {
        let Some(Frames { to, back, memory }) = &mut self.frames else {
            return Err(self.ended("the encoder has ended".into()));
        };
        let mut copied = std::mem::take(memory);
        copied.clear();
        copied.extend_from_slice(frame);
        let written =
            if to.send(copied).is_ok() { back.recv_timeout(self.patience) } else { return Err(self.reason()) };
        match written {
            Ok(Ok(copied)) => *memory = copied,
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(self.reason()),
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                let seconds = self.patience.as_secs();
                return Err(self.ended(format!(
                    "the encoder hangs: it did not accept a frame within {seconds} s; the video \
                                        ends before that frame"
                )));
            }
        }
        Ok(())
    }

    /// Sets how long the encoder may take for a frame, and for the end.
    #[cfg(test)]
    pub(crate) fn wait_for(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// [`Error::Ended`] if the encoder could not write it, or takes longer than 20 s.
    pub fn finish(mut self) -> Result<(), Error> {
        self.frames = None;
        let begun = Instant::now();
        loop {
            match self.child.try_wait().map_err(|error| self.ended(error.to_string()))? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(self.reason()),
                None if begun.elapsed() > self.patience => {
                    return Err(self.ended("the encoder does not end the file".into()));
                }
                None => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Returns the child's error output, after its end.
    fn reason(&mut self) -> Error {
        self.end();
        let words = self.words.take().and_then(|words| words.join().ok());
        self.ended(words.unwrap_or_else(|| "the encoder ended".into()))
    }

    fn end(&mut self) {
        self.frames = None;
        self.child.end();
    }

    fn ended(&self, reason: String) -> Error {
        Error::Ended { element: self.element.name, reason }
    }
}

/// Returns the first encoder that encodes this picture.
fn working(shape: Shape, picture: &Bytes) -> Result<Element, Error> {
    let mut problem = None;
    for element in encoders()? {
        let (tell, told) = mpsc::channel();
        // The receiver reads only the first output.
        let encoder = Encoder::start(element, shape, move |said| drop(tell.send(said)))?;
        encoder.write(picture.clone());
        match told.recv_timeout(PATIENCE) {
            Ok(EncoderReport::Unit(_)) => return Ok(element),
            Ok(EncoderReport::Ended(error)) => problem = Some(error),
            Err(_) => problem = Some(Error::Ended { element: element.name, reason: "it delivered nothing".into() }),
        }
    }
    Err(problem.unwrap_or_else(|| Error::NoEncoder(String::new())))
}
