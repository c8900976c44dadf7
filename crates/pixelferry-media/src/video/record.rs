//! Pictures into a file.

use super::child;
use super::elements::{self, Element, encoders};
use super::encoder::{Encoder, Said};
use super::error::Error;
use super::shape::Shape;
use bytes::Bytes;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An encoder that gives nothing for so long is passed over.
const PATIENCE: Duration = Duration::from_secs(20);

/// By a file's ending: GStreamer's element, and the stream that it takes.
const CONTAINERS: [(&str, &str, &str); 4] = [
    ("mp4", "mp4mux", "avc"),
    ("mkv", "matroskamux", "avc"),
    ("ts", "mpegtsmux", "byte-stream"),
    ("h264", "identity", "byte-stream"),
];

/// Writes a file of constant rate: each picture until the next one comes. Not to be dropped before [`Recorder::finish`], or the
/// file may lack its end.
///
/// Threads: one.
pub struct Recorder {
    element: Element,
    shape: Shape,
    rate: u32,
    child: Child,
    stdin: Option<ChildStdin>,
    words: Option<JoinHandle<String>>,
    rows: Vec<u8>,
    begun: Instant,
    written: u64,
}

impl Recorder {
    /// Starts a file with its first picture, by the first encoder that works. The file's ending says the container.
    ///
    /// # Errors
    /// [`Error::Container`], [`Error::File`]; [`Error::Format`], [`Error::Size`]; what [`encoders`] says; [`Error::Ended`] where none works.
    pub fn start(path: &Path, rate: u32, first: &Bytes) -> Result<Self, Error> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let container = CONTAINERS.iter().find(|(name, ..)| ending.eq_ignore_ascii_case(name));
        let (_, muxer, format) = *container.ok_or_else(|| Error::Container(path.into()))?;
        if !elements::is_known(muxer)? {
            return Err(Error::NoElement { element: muxer, package: "gstreamer1.0-plugins-good" });
        }
        let (shape, rate) = (Shape::of(first)?, rate.max(1));
        let element = working(shape, first)?;
        let stream = format!("video/x-h264,stream-format={format},alignment=au");
        // The child gets the file, never its name: names would be words of GStreamer's language.
        let file = File::create(path).map_err(|source| Error::File { path: path.into(), source })?;
        let mut child = child::start(&element, &shape, rate, &[&stream, "!", muxer], file.into())?;
        let stdin = child.stdin.take();
        let heard = child.stderr.take().map(|pipe| std::thread::spawn(|| child::words(pipe)));
        let rows = shape.rows(first)?;
        Ok(Self { element, shape, rate, child, stdin, words: heard, rows, begun: Instant::now(), written: 0 })
    }

    /// The encoder.
    pub fn element(&self) -> Element {
        self.element
    }

    /// The picture of now. Blocks while the encoder is behind.
    ///
    /// # Errors
    /// [`Error::Ended`] where the size or format changed, or the encoder ended; [`Error::Wire`].
    pub fn write(&mut self, message: &[u8]) -> Result<(), Error> {
        if Shape::of(message)? != self.shape {
            return Err(self.ended("the pictures changed their size or format; begin another file".into()));
        }
        let due = (self.begun.elapsed().as_secs_f64() * f64::from(self.rate)) as u64;
        while self.written < due {
            self.put()?;
        }
        self.rows = self.shape.rows(message)?;
        Ok(())
    }

    /// Writes the end of the file; the pictures in it.
    ///
    /// # Errors
    /// [`Error::Ended`] where the encoder could not write it.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.put()?;
        self.stdin = None;
        let status = self.child.wait().map_err(|error| self.ended(error.to_string()))?;
        if status.success() { Ok(self.written) } else { Err(self.reason()) }
    }

    fn put(&mut self) -> Result<(), Error> {
        let Some(stdin) = &mut self.stdin else { return Err(self.ended("it has ended".into())) };
        if stdin.write_all(&self.rows).is_err() {
            return Err(self.reason());
        }
        self.written += 1;
        Ok(())
    }

    /// Returns what the child said when it ended.
    fn reason(&mut self) -> Error {
        self.stdin = None;
        // One that ended by itself is not there any more.
        let _ = self.child.kill();
        let words = self.words.take().and_then(|words| words.join().ok());
        self.ended(words.unwrap_or_else(|| "it ended".into()))
    }

    fn ended(&self, reason: String) -> Error {
        Error::Ended { element: self.element.name, reason }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stdin = None;
        // One that ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
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
