//! Measuring the rows of a cell side by side.
//!
//! Rows take turns in blocks, and every other round in the reverse order: what slows the machine down for a while hits
//! all of them alike. Not frame by frame, as each row would then pay for the caches of the one before; for the same
//! reason the first frames of a block do not count.

use crate::grid::Mode;
use crate::record::Row;
use crate::rows::{Rows, Stage, Subject};
use crate::stats::Stats;
use pixelferry::Result;
use std::time::{Duration, Instant};

/// Frames of each row before the first round: drivers build and allocate at the first use.
pub(crate) const WARM_UP: usize = 3;
/// Frames of a block that do not count.
pub(crate) const LEAD_IN: usize = 2;
/// Rounds, where time allows.
pub(crate) const ROUNDS: usize = 10;
/// Rounds in any case.
pub(crate) const FEWEST_ROUNDS: usize = 3;
/// A run of throughput takes so long at least on the quickest row, so that its one wait does not count much.
const RUN: Duration = Duration::from_millis(40);
/// Frames of a run, and how many pipelines deep it is at least.
const RUN_FRAMES: std::ops::RangeInclusive<usize> = 8..=100;
const RUN_PIPELINES: usize = 4;

/// What a cell gave.
pub(crate) struct Measured {
    pub rows: Vec<Row>,
    pub frames_per_sample: usize,
}

struct Contestant<'a> {
    subject: Subject<'a>,
    rounds: Vec<Vec<f64>>,
    /// Why it is out.
    failed: Option<String>,
}

impl Contestant<'_> {
    /// Runs `work` unless the row is out, and keeps an error as the reason for it.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        if self.failed.is_some() {
            return None;
        }
        match work(self) {
            Ok(value) => Some(value),
            Err(error) => {
                self.failed = Some(format!("while it was timed: {error}"));
                None
            }
        }
    }
}

/// Times all rows for about `share`; `frames` of each at most. A row that fails goes on as a skipped one.
pub(crate) fn measure(stage: &Stage<'_>, rows: &mut Rows<'_>, frames: usize, share: Duration) -> Measured {
    let start = Instant::now();
    let subjects = std::mem::take(&mut rows.subjects).into_iter();
    let mut all: Vec<_> = subjects.map(|subject| Contestant { subject, rounds: Vec::new(), failed: None }).collect();
    let pace = warm_up(stage, &mut all);
    let turn = Turn::plan(stage.spot.mode, &pace, &all, frames, share);
    let mut n = 0;
    for round in 0..turn.rounds {
        let mut order: Vec<usize> = (0..all.len()).collect();
        if round % 2 != 0 {
            order.reverse();
        }
        for i in order {
            all[i].attempt(|c| {
                let samples = turn.take(stage, &mut c.subject, &mut n)?;
                c.rounds.push(samples);
                Ok(())
            });
        }
        // One more like those before must fit in.
        let spent = start.elapsed();
        if round + 1 >= FEWEST_ROUNDS && spent + spent / (round as u32 + 1) > share {
            break;
        }
    }
    let mut measured = Vec::new();
    for Contestant { subject, rounds, failed } in all {
        match failed {
            Some(reason) => rows.skipped.push(crate::record::Skipped { what: subject.info.row, reason }),
            None => {
                let stats = Stats::of(rounds.iter().flatten().copied());
                measured.push(Row { info: subject.info, stats, rounds_us: rounds });
            }
        }
    }
    Measured { rows: measured, frames_per_sample: turn.run }
}

/// How long a frame of each row takes, about.
fn warm_up(stage: &Stage<'_>, all: &mut [Contestant<'_>]) -> Vec<Duration> {
    let mut pace = Vec::new();
    for contestant in all {
        let took = contestant.attempt(|c| {
            let mut last = Duration::ZERO;
            for n in 0..WARM_UP {
                let start = Instant::now();
                (c.subject.frame)(n as u32)?;
                stage.wait(c.subject.ends)?;
                last = start.elapsed();
            }
            Ok(last)
        });
        pace.extend(took);
    }
    pace
}

/// What a row does when it is its turn.
struct Turn {
    mode: Mode,
    /// Samples of a block.
    block: usize,
    /// Frames of a sample.
    run: usize,
    rounds: usize,
}

impl Turn {
    fn plan(mode: Mode, pace: &[Duration], all: &[Contestant<'_>], frames: usize, share: Duration) -> Self {
        let quickest = pace.iter().min().copied().unwrap_or_default();
        let round_of_one: Duration = pace.iter().sum();
        match mode {
            Mode::Latency => {
                let fits = share.as_secs_f64() / ROUNDS as f64 / round_of_one.as_secs_f64().max(1e-9);
                let block = frames.div_ceil(ROUNDS).min((fits as usize).saturating_sub(LEAD_IN)).max(3).min(frames);
                Self { mode, block, run: 1, rounds: frames.div_ceil(block) }
            }
            Mode::Throughput => {
                let late = all.iter().map(|c| c.subject.info.frames_late).max().unwrap_or(0);
                let long = (RUN.as_secs_f64() / quickest.as_secs_f64().max(1e-9)) as usize;
                let fits = share.as_secs_f64() / ROUNDS as f64 / round_of_one.as_secs_f64().max(1e-9);
                let run = long.min(fits as usize).clamp(*RUN_FRAMES.start(), *RUN_FRAMES.end());
                let run = run.min(frames).max(RUN_PIPELINES * late).max(1);
                Self { mode, block: 1, run, rounds: frames.div_ceil(run).max(FEWEST_ROUNDS).max(ROUNDS.min(frames)) }
            }
        }
    }

    /// Microseconds a frame, for each sample of the block, to the nanosecond.
    fn take(&self, stage: &Stage<'_>, subject: &mut Subject<'_>, n: &mut u32) -> Result<Vec<f64>> {
        let mut frames = |count: usize, subject: &mut Subject<'_>| {
            let start = Instant::now();
            for _ in 0..count {
                *n = n.wrapping_add(1);
                (subject.frame)(*n)?;
            }
            stage.wait(subject.ends)?;
            let nanoseconds = start.elapsed().as_nanos() as f64 / count as f64;
            Ok((nanoseconds).round() / 1e3)
        };
        match self.mode {
            Mode::Latency => {
                for _ in 0..LEAD_IN {
                    frames(1, subject)?;
                }
                (0..self.block).map(|_| frames(1, subject)).collect()
            }
            Mode::Throughput => {
                frames(LEAD_IN, subject)?;
                (0..self.block).map(|_| frames(self.run, subject)).collect()
            }
        }
    }
}
