//! One pair of backend and display with scratch memory of its own, and its turns.

use super::declare::{LinkBuilder, Scratch};
use super::pairs::Pair;
use super::report::{JointRow, JointState};
use interop_core::compute::zeros;
use interop_core::select::quantile;
use interop_core::{Arg, ComputeMemory, Link, Ratio, Result};
use std::time::Duration;

/// Frames before the first turn.
const WARM_UP: usize = 3;
/// Length of a turn, about.
const TURN: Duration = Duration::from_millis(4);
/// Samples of a turn at most.
const MOST_SAMPLES: usize = 12;

/// A pair that was opened for measuring.
pub(super) struct Bench {
    pub pair: Pair,
    pub link: Link,
    /// Those of each of the pair's kernels.
    arguments: Vec<Vec<Value>>,
    /// Bytes of a frame that the host writes, where no kernel does.
    written: Vec<u8>,
    /// (round, median of its turn).
    turns: Vec<(u32, f64)>,
    samples_us: Vec<f64>,
}

/// An argument in this backend's memory.
enum Value {
    Number(Arg<'static>),
    Memory(Box<dyn ComputeMemory>),
}

impl Value {
    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Memory(memory) => Arg::Memory(memory.as_ref()),
            Self::Number(arg) => *arg,
        }
    }
}

impl Bench {
    /// Opens the path, chosen within the time for `paths`, and makes scratch copies of the kernels' arguments.
    pub fn open(pair: Pair, wanted: &LinkBuilder, paths: Duration) -> Result<Self> {
        let link = wanted.link(&pair, paths)?;
        let value = |scratch: &Scratch| {
            Ok(match *scratch {
                Scratch::I32(v) => Value::Number(Arg::I32(v)),
                Scratch::U32(v) => Value::Number(Arg::U32(v)),
                Scratch::F32(v) => Value::Number(Arg::F32(v)),
                Scratch::I64(v) => Value::Number(Arg::I64(v)),
                Scratch::U64(v) => Value::Number(Arg::U64(v)),
                Scratch::F64(v) => Value::Number(Arg::F64(v)),
                Scratch::Zeros(bytes) => Value::Memory(memory(&pair, &zeros(bytes)?)?),
                Scratch::Bytes(ref bytes) => Value::Memory(memory(&pair, bytes)?),
            })
        };
        let values = wanted.launches.iter().map(|(_, scratch)| scratch.iter().map(value).collect());
        let arguments: Vec<Vec<Value>> = values.collect::<Result<_>>()?;
        let written = if arguments.is_empty() { zeros(wanted.surface.byte_len()?)? } else { Vec::new() };
        let mut bench = Self { pair, link, arguments, written, turns: Vec::new(), samples_us: Vec::new() };
        for _ in 0..WARM_UP {
            bench.frame()?;
        }
        bench.wait()?;
        Ok(bench)
    }

    fn frame(&mut self) -> Result<()> {
        let (kernels, arguments, written) = (&self.pair.kernels, &self.arguments, &self.written);
        self.link.frame(|frame| {
            if kernels.is_empty() {
                return frame.write(written);
            }
            for (kernel, values) in kernels.iter().zip(arguments) {
                let args: Vec<_> = values.iter().map(Value::arg).collect();
                frame.launch(kernel.as_ref(), &args)?;
            }
            Ok(())
        })?;
        self.pair.screen.display.draw_offscreen(self.link.shown()?.surface())
    }

    fn wait(&self) -> Result<()> {
        self.pair.screen.display.finish()
    }

    /// One sample: a frame that is waited for, or a run of those that are late.
    fn sample(&mut self, wanted: &LinkBuilder) -> Result<f64> {
        let frames = match self.link.frames_behind() {
            0 => 1,
            late => 2 * late + 4,
        };
        let clock = &wanted.policy.clock;
        let begun = clock.now();
        for _ in 0..frames {
            self.frame()?;
        }
        self.wait()?;
        Ok(clock.now().saturating_sub(begun).as_secs_f64() * 1e6 / frames as f64)
    }

    /// A turn of this round.
    pub fn turn(&mut self, wanted: &LinkBuilder, round: u32) -> Result<()> {
        self.pair.enter()?;
        // Feels what ran before.
        let first = self.sample(wanted)?;
        let more = ((TURN.as_secs_f64() * 1e6 / first.max(1e-3)) as usize).min(MOST_SAMPLES);
        let mut samples = if more == 0 { vec![first] } else { Vec::new() };
        for _ in 0..more {
            samples.push(self.sample(wanted)?);
        }
        self.turns.push((round, quantile(&samples, 0.5)));
        self.samples_us.extend(samples);
        Ok(())
    }

    /// Its time by that of another, over the rounds in which both had a turn.
    pub fn ratio_to(&self, other: &Self) -> Option<Ratio> {
        let theirs = |round| other.turns.iter().find(|(r, _)| *r == round).map(|(_, us)| *us);
        Ratio::of_rounds(self.turns.iter().filter_map(|(round, us)| Some(us / theirs(*round)?)))
    }

    /// Returns what it says in a report.
    pub fn row(&self, state: JointState, ratio: Option<Ratio>) -> JointRow {
        let median_us = (!self.samples_us.is_empty()).then(|| quantile(&self.samples_us, 0.5));
        JointRow { median_us, ratio, ..self.pair.row(&self.link, state) }
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

fn memory(pair: &Pair, content: &[u8]) -> Result<Box<dyn ComputeMemory>> {
    let mut memory = pair.backend.allocate(content.len())?;
    memory.write(0, content)?;
    Ok(memory)
}
