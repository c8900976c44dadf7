//! An encoder: a child process, and threads for its pipes.

use super::child::{self, PATIENCE};
use super::elements::Element;
use super::error::Error;
use super::feed::Feed;
use super::shape::Shape;
use super::units::{self, Unit};
use bytes::Bytes;
use interop_core::describe::child_process::ChildProcess;
use interop_core::describe::threads;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

/// Frame rate for the encoder's rate control only; pictures may come at any time.
const RATE: u32 = 60;
const SECOND: u64 = 1_000_000_000;
const UNITS: [&str; 3] = ["video/x-h264,stream-format=byte-stream,alignment=au", "!", "gdppay"];

/// Output of an encoder.
#[derive(Debug)]
pub enum EncoderReport {
    /// One encoded picture. The first one is a keyframe.
    Unit(Unit),
    /// The encoder has ended, with the reason.
    Ended(Error),
}

/// A running encoder for pictures of one shape. Dropping it ends it.
///
/// Threads: any.
pub struct Encoder {
    feed: Arc<Feed>,
    child: ChildProcess,
    threads: Vec<JoinHandle<()>>,
}

impl Encoder {
    /// Starts an encoder. `told` receives its output on a thread of the encoder's and must not drop the encoder.
    ///
    /// # Errors
    /// [`Error::NoTools`], [`Error::Threads`].
    pub fn start(
        element: Element,
        shape: Shape,
        mut told: impl FnMut(EncoderReport) + Send + 'static,
    ) -> Result<Self, Error> {
        let child = child::start(&element, &shape.raw(RATE), &UNITS, Stdio::piped())?;
        let mut encoder = Self { feed: Arc::default(), child, threads: Vec::new() };
        let Child { stdin, stdout, stderr, .. } = &mut *encoder.child;
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin.take(), stdout.take(), stderr.take()) else {
            return Err(Error::Threads(std::io::ErrorKind::BrokenPipe.into()));
        };
        let words = threads::spawn("encoder-words", || child::words(stderr, &AtomicBool::default()));
        let words = words.map_err(Error::Threads)?;
        let feed = encoder.feed.clone();
        encoder.spawn("encoder-in", move || feed.write(&shape, stdin))?;
        let feed = encoder.feed.clone();
        encoder.spawn("encoder-out", move || {
            let problem = read(&feed, stdout, &mut told);
            let reason = problem.unwrap_or_else(|| words.join().unwrap_or_default());
            told(EncoderReport::Ended(Error::Ended { element: element.name, reason }));
        })?;
        Ok(encoder)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        self.threads.push(threads::spawn(name, work).map_err(Error::Threads)?);
        Ok(())
    }

    /// Gives the encoder a picture's message. Drops an earlier picture that is still waiting, and ignores a picture of
    /// another shape.
    pub fn write(&self, message: Bytes) {
        self.feed.put(message);
    }

    /// Returns whether an output is overdue for so long that none will come.
    pub fn is_stuck(&self) -> bool {
        self.feed.owed() > PATIENCE
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.feed.end();
        self.child.end();
        for thread in self.threads.drain(..) {
            // The threads return no values.
            let _ = thread.join();
        }
    }
}

/// Passes units on until the child ends; returns an error if its pipe shows one.
fn read(feed: &Feed, mut pipe: ChildStdout, told: &mut impl FnMut(EncoderReport)) -> Option<String> {
    let mut first = None;
    loop {
        let packet = match units::next(&mut pipe) {
            Ok(packet) => packet?,
            Err(error) => return Some(error.to_string()),
        };
        // An encoder's timestamps may start at any value.
        let since = packet.time.saturating_sub(*first.get_or_insert(packet.time));
        let number = (u128::from(since) * u128::from(RATE) + u128::from(SECOND / 2)) / u128::from(SECOND);
        let Some(header) = feed.came(number as u64) else {
            return Some(format!("it delivered a unit for picture {number}, which it did not get"));
        };
        let is_key = units::is_key(&packet.bytes);
        told(EncoderReport::Unit(Unit { header, is_key, bytes: packet.bytes }));
    }
}
