//! Pictures into a file, each for one frame's time.

use super::child::{self, PATIENCE, Raw};
use super::elements::{self, BAD, CORE, Element, GOOD, encoders};
use super::encoder::{Encoder, Said};
use super::error::Error;
use super::shape::Shape;
use crate::child::ChildProcess;
use crate::wire::{Header, Kind};
use crate::yuv::Yuv;
use bytes::Bytes;
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

/// A kind of file, by its ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Container {
    ending: &'static str,
    /// GStreamer's element, and its properties.
    muxer: &'static [&'static str],
    /// The Debian package that has it.
    package: &'static str,
    /// The stream that it takes.
    format: &'static str,
}

/// MP4 is written in fragments of a second: of a file without an end, all but the last can be played. So can Matroska.
const CONTAINERS: [Container; 4] = [
    Container { ending: "mp4", muxer: &["mp4mux", "fragment-duration=1000"], package: GOOD, format: "avc" },
    Container { ending: "mkv", muxer: &["matroskamux"], package: GOOD, format: "avc" },
    Container { ending: "ts", muxer: &["mpegtsmux"], package: BAD, format: "byte-stream" },
    Container { ending: "h264", muxer: &["identity"], package: CORE, format: "byte-stream" },
];

impl Container {
    /// The one that a file's ending says; `None` where it says none.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        CONTAINERS.into_iter().find(|container| ending.eq_ignore_ascii_case(container.ending))
    }

    /// Checks that GStreamer has what it takes; an encoder may still fail at its first picture.
    ///
    /// # Errors
    /// Those of [`encoders`].
    pub fn check(&self) -> Result<(), Error> {
        elements::with(&[(self.muxer[0], self.package)]).map(drop)
    }
}

/// Writes a file of constant rate. [`VideoFile::finish`] writes its end, without which it may be hard to play.
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

/// The thread that writes frames: an encoder that hangs leaves them in its pipe.
struct Frames {
    to: Sender<Vec<u8>>,
    /// Memory of a frame that was written.
    back: Receiver<io::Result<Vec<u8>>>,
    memory: Vec<u8>,
}

impl Frames {
    /// Writes each frame until nobody gives more, which ends the pipe.
    fn start(mut pipe: ChildStdin) -> Result<Self, Error> {
        let (to, frames) = mpsc::channel::<Vec<u8>>();
        let (written, back) = mpsc::channel();
        let work = move || {
            for frame in frames {
                let result = pipe.write_all(&frame).map(|()| frame);
                let is_over = result.is_err();
                // Who gave it may wait no longer.
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
    /// Starts a file for pictures such as this one, tight rows of RGBA8 with the top one first, by the first encoder that works.
    ///
    /// # Errors
    /// [`Error::Size`]; what [`encoders`] says; [`Error::Ended`] where none works.
    pub fn start(file: File, container: Container, rate: u32, extent: Extent, like: &[u8]) -> Result<Self, Error> {
        let header =
            Header::new(Kind::Picture, ImageDesc::new(extent.width, extent.height, PixelFormat::Rgba8), extent.full());
        let message = Bytes::from([&header.to_bytes()[..], like].concat());
        let shape = Shape::of_film(&message)?;
        let (element, film) = (working(shape, &message)?, shape.padded());
        let stream = format!("video/x-h264,stream-format={},alignment=au", container.format);
        let after: Vec<&str> = [&stream, "!"].into_iter().chain(container.muxer.iter().copied()).collect();
        // The child gets the file, never its name: names would be words of GStreamer's language.
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

    /// Number of the encoder's process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Size of the film: the pictures' own, and one pixel more where a side is odd, which H.264 does not have.
    pub fn extent(&self) -> Extent {
        self.film
    }

    /// Makes a frame of a picture such as the first, with no byte too few; where a side is odd, its last pixels are there twice.
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
    /// [`Error::Ended`] where the encoder ended, or does not take the frame in 20 s: then it is ended, and what it wrote stays.
    pub fn put(&mut self, frame: &[u8]) -> Result<(), Error> {
        let Some(Frames { to, back, memory }) = &mut self.frames else {
            return Err(self.ended("it has ended".into()));
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
                return Err(
                    self.ended(format!("it hangs: a frame was not taken in {seconds} s; the film ends before it"))
                );
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
    /// [`Error::Ended`] where the encoder could not write it, or takes longer than 20 s.
    pub fn finish(mut self) -> Result<(), Error> {
        self.frames = None;
        let begun = Instant::now();
        loop {
            match self.child.try_wait().map_err(|error| self.ended(error.to_string()))? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(self.reason()),
                None if begun.elapsed() > self.patience => return Err(self.ended("it does not end the file".into())),
                None => thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    /// Returns what the child said when it ended.
    fn reason(&mut self) -> Error {
        self.end();
        let words = self.words.take().and_then(|words| words.join().ok());
        self.ended(words.unwrap_or_else(|| "it ended".into()))
    }

    fn end(&mut self) {
        self.frames = None;
        self.child.end();
    }

    fn ended(&self, reason: String) -> Error {
        Error::Ended { element: self.element.name, reason }
    }
}

/// The first encoder that gives a unit of this picture.
fn working(shape: Shape, picture: &Bytes) -> Result<Element, Error> {
    let mut problem = None;
    for element in encoders()? {
        let (tell, told) = mpsc::channel();
        // Nobody hears what comes after the first.
        let encoder = Encoder::start(element, shape, move |said| drop(tell.send(said)))?;
        encoder.write(picture.clone());
        match told.recv_timeout(PATIENCE) {
            Ok(Said::Unit(_)) => return Ok(element),
            Ok(Said::Ended(error)) => problem = Some(error),
            Err(_) => problem = Some(Error::Ended { element: element.name, reason: "it gives nothing".into() }),
        }
    }
    Err(problem.unwrap_or_else(|| Error::NoEncoder(String::new())))
}
