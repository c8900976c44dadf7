//! One pair of backend and display with scratch memory of its own, and its turns.

use super::declare::{Scratch, Workload};
use super::pairs::Pair;
use super::report::{JointRow, JointState, because, name};
use interop_core::select::quantile;
use interop_core::{Arg, ComputeMemory, Kernel, Link, LinkOptions, Ratio, Result};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Frames before the first turn.
const WARM_UP: usize = 3;
/// A turn is about so long,
const TURN: Duration = Duration::from_millis(4);
/// and has at most so many samples.
const MOST_SAMPLES: usize = 12;

/// A pair that was opened for measuring.
pub(super) struct Bench {
    pub pair: Pair,
    pub link: Link,
    launches: Vec<(Arc<dyn Kernel>, Vec<Value>)>,
    /// (round, median of its turn).
    turns: Vec<(u32, f64)>,
    samples_us: Vec<f64>,
}

/// An argument in this backend's memory.
enum Value {
    Plain(Scratch),
    Memory(Box<dyn ComputeMemory>),
}

impl Value {
    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Memory(memory) => Arg::Memory(memory.as_ref()),
            Self::Plain(Scratch::I32(v)) => Arg::I32(*v),
            Self::Plain(Scratch::U32(v)) => Arg::U32(*v),
            Self::Plain(Scratch::F32(v)) => Arg::F32(*v),
            Self::Plain(Scratch::I64(v)) => Arg::I64(*v),
            Self::Plain(Scratch::U64(v)) => Arg::U64(*v),
            Self::Plain(Scratch::F64(v)) => Arg::F64(*v),
            // Made into memory below.
            Self::Plain(Scratch::Zeros(_) | Scratch::Bytes(_)) => Arg::U32(0),
        }
    }
}

impl Bench {
    /// Opens the path, builds the kernels, and makes scratch copies of their arguments.
    pub fn open(pair: Pair, workload: &Workload) -> Result<Self> {
        pair.enter()?;
        let options = LinkOptions::new(workload.policy.clone());
        let link = Link::open(Arc::clone(&pair.backend), Rc::clone(&pair.display), workload.surface, options)?;
        let mut launches = Vec::new();
        for (source, arguments) in &workload.launches {
            let kernel = pair.backend.build(source)?;
            let values = arguments.iter().flatten().map(|scratch| {
                Ok(match scratch {
                    Scratch::Zeros(bytes) => Value::Memory(memory(&pair, *bytes, None)?),
                    Scratch::Bytes(bytes) => Value::Memory(memory(&pair, bytes.len(), Some(bytes))?),
                    plain => Value::Plain(plain.clone()),
                })
            });
            launches.push((kernel, values.collect::<Result<_>>()?));
        }
        let mut bench = Self { pair, link, launches, turns: Vec::new(), samples_us: Vec::new() };
        for _ in 0..WARM_UP {
            bench.frame()?;
        }
        bench.wait()?;
        Ok(bench)
    }

    fn frame(&mut self) -> Result<()> {
        let launches = &self.launches;
        self.link.frame(|frame| {
            for (kernel, values) in launches {
                let args: Vec<_> = values.iter().map(Value::arg).collect();
                frame.launch(kernel.as_ref(), &args)?;
            }
            Ok(())
        })?;
        self.pair.display.draw_offscreen(self.link.shown()?.surface())
    }

    fn wait(&self) -> Result<()> {
        self.pair.display.finish()
    }

    /// One sample: a frame that is waited for, or a run of those that are late.
    fn sample(&mut self, workload: &Workload) -> Result<f64> {
        let frames = match self.link.frames_behind() {
            0 => 1,
            late => 2 * late + 4,
        };
        let clock = &workload.policy.clock;
        let begun = clock.now();
        for _ in 0..frames {
            self.frame()?;
        }
        self.wait()?;
        Ok(clock.now().saturating_sub(begun).as_secs_f64() * 1e6 / frames as f64)
    }

    /// A turn of this round.
    pub fn turn(&mut self, workload: &Workload, round: u32) -> Result<()> {
        self.pair.enter()?;
        // Feels what ran before.
        let first = self.sample(workload)?;
        let more = ((TURN.as_secs_f64() * 1e6 / first.max(1e-3)) as usize).min(MOST_SAMPLES);
        let mut samples = if more == 0 { vec![first] } else { Vec::new() };
        for _ in 0..more {
            samples.push(self.sample(workload)?);
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

    /// What it says in a report.
    pub fn row(&self, state: JointState, ratio: Option<Ratio>) -> JointRow {
        let Pair { backend, display, .. } = &self.pair;
        JointRow {
            compute: name(backend.device()),
            display: name(display.device()),
            path: Some(self.link.path().to_string()),
            median_us: (!self.samples_us.is_empty()).then(|| quantile(&self.samples_us, 0.5)),
            ratio,
            because: because(backend.as_ref(), display.as_ref(), &self.link),
            state,
        }
    }

    /// The pair and its link, with no picture in it; the scratch memory is gone.
    pub fn into_pair(self) -> Result<(Pair, Link)> {
        let Self { pair, mut link, launches, .. } = self;
        pair.enter()?;
        drop(launches);
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

fn memory(pair: &Pair, bytes: usize, content: Option<&[u8]>) -> Result<Box<dyn ComputeMemory>> {
    let mut memory = pair.backend.allocate(bytes)?;
    match content {
        Some(content) => memory.write(0, content)?,
        None => memory.write(0, &vec![0; bytes])?,
    }
    Ok(memory)
}
