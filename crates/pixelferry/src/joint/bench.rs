//! One pair of backend and display with scratch memory of its own, and its turns.

use super::declare::{Initial, LinkBuilder, Scratch};
use super::pairs::Pair;
use super::report::{JointRow, JointState};
use interop_core::compute::zeros;
use interop_core::tournament::{Clock, Contestant, Entry, TURN, Terms, quantile};
use interop_core::{Argument, ComputeMemory, Link, Ratio, Result, WriteFrame};
use std::fmt;
use std::time::Duration;

/// A frame of the program's that may be computed again, on any backend, with the same pixels. [`WriteFrame::backend`] says on which.
pub type RepeatableFrame<'a> = dyn FnMut(&mut WriteFrame<'_>) -> Result<()> + 'a;

/// A pair that was opened for measuring.
pub(super) struct Bench {
    /// Place in the order of trials.
    pub place: usize,
    pair: Pair,
    link: Link,
    /// Those of each of the pair's kernels.
    arguments: Vec<Vec<Value>>,
    /// Bytes of a frame that the host writes, where no kernel does.
    written: Vec<u8>,
}

/// An argument in this backend's memory.
type Value = Argument<Box<dyn ComputeMemory>>;

impl Bench {
    /// Opens the path, chosen within the time for `paths`, and makes scratch copies of the kernels' arguments.
    pub fn open(place: usize, pair: Pair, wanted: &LinkBuilder, paths: Duration) -> Result<Entry<Self>> {
        let link = wanted.link(&pair, paths)?;
        let value = |scratch: &Scratch| {
            scratch.each_ref().with_memory(|initial| match initial {
                Initial::Zeros(bytes) => memory(&pair, &zeros(*bytes)?),
                Initial::Bytes(bytes) => memory(&pair, bytes),
            })
        };
        let values = wanted.launches.iter().map(|(_, scratch)| scratch.iter().map(value).collect());
        let arguments: Vec<Vec<Value>> = values.collect::<Result<_>>()?;
        let written = if arguments.is_empty() { zeros(wanted.surface.byte_len()?)? } else { Vec::new() };
        // The rounds of pairs are few, so that turns are longer. A ring has three slots.
        let terms = Terms { turn: 2 * TURN, frames_behind: link.frames_behind(), slots: 3, bytes: 0 };
        Ok(Entry::new(Self { place, pair, link, arguments, written }, terms, false))
    }

    /// Microseconds of each of so many frames.
    fn timed(&mut self, clock: &Clock, frames: usize) -> Result<f64> {
        let (kernels, arguments, written) = (&self.pair.kernels, &self.arguments, &self.written);
        timed(&mut self.link, clock, frames, &mut |frame| {
            if kernels.is_empty() {
                return frame.write(written);
            }
            for (kernel, values) in kernels.iter().zip(arguments) {
                let args = values.iter().map(|value| value.each_ref().with_memory(|memory| Ok(memory.as_ref())));
                let args = args.collect::<Result<Vec<_>>>()?;
                frame.launch(kernel.as_ref(), &args)?;
            }
            Ok(())
        })
    }

    /// Returns what its turns say in a report.
    pub fn row(entry: &Entry<Self>, state: JointState, ratio: Option<Ratio>) -> JointRow {
        let samples = entry.samples_us();
        let median_us = (!samples.is_empty()).then(|| quantile(samples, 0.5));
        JointRow { median_us, ratio, ..entry.who.pair.row(&entry.who.link, state) }
    }

    /// The pair and its link, with no picture in it; the scratch memory is gone.
    pub fn into_pair(self) -> Result<(Pair, Link)> {
        let Self { pair, mut link, arguments, .. } = self;
        pair.enter()?;
        drop(arguments);
        link.clear()?;
        Ok((pair, link))
    }

    /// Frees it where its objects can be reached.
    pub fn leave(self) {
        if let Err(error) = self.pair.enter() {
            tracing::debug!(%error, "a display that was measured cannot be reached any more");
        }
    }
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.pair.backend.device(), self.pair.screen.display.device())
    }
}

impl Contestant for Bench {
    type Course<'a> = ();

    fn begin(&mut self) -> Result<()> {
        self.pair.enter()
    }

    fn sample(&mut self, (): &(), clock: &Clock, frames: usize) -> Result<f64> {
        self.timed(clock, frames)
    }
}

/// Computes and draws so many frames and waits for them; microseconds of each.
pub(super) fn timed(link: &mut Link, clock: &Clock, frames: usize, frame: &mut RepeatableFrame<'_>) -> Result<f64> {
    let begun = clock.now();
    for _ in 0..frames {
        link.frame(&mut *frame)?;
        link.display().draw_offscreen(link.shown()?.surface())?;
    }
    link.display().finish()?;
    Ok(clock.since(begun).as_secs_f64() * 1e6 / frames as f64)
}

fn memory(pair: &Pair, content: &[u8]) -> Result<Box<dyn ComputeMemory>> {
    let mut memory = pair.backend.allocate(content.len())?;
    memory.write(0, content)?;
    Ok(memory)
}
