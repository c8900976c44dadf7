//! Measures the rows of a cell side by side.
//!
//! Rows take turns in blocks, in reverse order every other round, so that whatever slows the machine down for a while
//! affects all rows alike. Turns of single frames would make each row pay for the caches of the previous one; for the
//! same reason the first frames of a block do not count.

use crate::bench::grid::Mode;
use crate::bench::record::{BenchRow, SkippedItem};
use crate::bench::rows::{Rows, Stage, Subject};
use crate::bench::stats::Stats;
use crate::bench::verdict::{is_open, undecided};
use pixelferry::Result;
use std::time::{Duration, Instant};

/// Frames of each row before the first round: drivers build and allocate at the first use.
pub(crate) const WARM_UP: usize = 2;
/// Frames at the start of a block that do not count; one if time is short.
pub(crate) const LEAD_IN: usize = 2;
/// Minimum samples of a block.
const FEWEST_SAMPLES: usize = 2;
/// Number of rounds if time allows.
pub(crate) const ROUNDS: usize = 10;
/// Minimum number of rounds.
pub(crate) const FEWEST_ROUNDS: usize = 3;
/// Rounds of the two rows alone: fewer than the minimum do not count.
const ALONE: std::ops::RangeInclusive<usize> = 7..=60;
/// Minimum duration of a throughput run on the fastest row, which keeps the cost of its one wait small.
const RUN: Duration = Duration::from_millis(40);
/// Minimum and maximum frames of a run.
const RUN_FRAMES: std::ops::RangeInclusive<usize> = 8..=100;
const RUN_PIPELINES: usize = 4;

/// Result of a cell.
pub(crate) struct CellResult {
    pub rows: Vec<BenchRow>,
    pub frames_per_sample: usize,
    /// Duration of the minimum number of rounds.
    pub least: Duration,
}

struct Contestant<'a> {
    subject: Subject<'a>,
    rounds: Vec<Vec<f64>>,
    /// Error that took the row out of the measurement.
    failed: Option<String>,
}

impl Contestant<'_> {
    /// Runs `work` unless the row has failed, and records its error.
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

/// Times all rows for about `share`, with at most `frames` frames each. A failing row becomes a skipped one.
pub(crate) fn measure(stage: &Stage<'_>, rows: &mut Rows<'_>, frames: usize, share: Duration) -> CellResult {
    let start = Instant::now();
    let subjects = std::mem::take(&mut rows.subjects).into_iter();
    let mut all: Vec<_> = subjects.map(|subject| Contestant { subject, rounds: Vec::new(), failed: None }).collect();
    let pace = warm_up(stage, &mut all);
    let turn = Turn::plan(stage.spot.mode, &pace, &all, frames, share);
    let (mut n, mut least) = (0, Duration::ZERO);
    for round in 0..turn.rounds {
        for i in order(round, all.len()) {
            all[i].attempt(|c| {
                let samples = turn.take(stage, &mut c.subject, &mut n)?;
                c.rounds.push(samples);
                Ok(())
            });
        }
        let spent = start.elapsed();
        if round < FEWEST_ROUNDS {
            least = spent;
        } else if spent + spent / (round as u32 + 1) > share {
            // Stop: another round as long as the previous ones would exceed the time.
            break;
        }
    }
    let mut measured = Vec::new();
    let mut subjects = Vec::new();
    for Contestant { subject, rounds, failed } in all {
        match failed {
            Some(reason) => rows.skipped.push(SkippedItem { what: subject.info.row, reason }),
            None => {
                let stats = Stats::of(rounds.iter().flatten().copied());
                measured.push(BenchRow { info: subject.info.clone(), stats, rounds_us: rounds, alone_us: Vec::new() });
                subjects.push(subject);
            }
        }
    }
    // Use at most the same time again. The best of many rows is partly the luckiest; separate turns remove that luck.
    if let Some(two) = undecided(&measured) {
        let mut n = 0;
        match alone(Instant::now() + share, |side| turn.take(stage, &mut subjects[two[side]], &mut n)) {
            Ok(rounds) => two.into_iter().zip(rounds).for_each(|(at, rounds)| measured[at].alone_us = rounds),
            Err(error) => rows.skip("rounds alone", format!("while they were timed: {error}")),
        }
    }
    CellResult { rows: measured, frames_per_sample: turn.run, least }
}

/// Lets two rows take turns (`turn(0)` is the automatic one) until it is clear on which side of the tolerance the
/// automatic row is, or time is over. Returns nothing if time allowed only a few turns.
fn alone(until: Instant, mut turn: impl FnMut(usize) -> Result<Vec<f64>>) -> Result<[Vec<Vec<f64>>; 2]> {
    let mut sides: [Vec<Vec<f64>>; 2] = Default::default();
    for round in 0..*ALONE.end() {
        let now = Instant::now();
        for side in [round % 2, 1 - round % 2] {
            let samples = turn(side)?;
            sides[side].push(samples);
        }
        if round + 1 >= *ALONE.start() && !is_open(&sides[0], &sides[1]) || now + 2 * now.elapsed() > until {
            break;
        }
    }
    Ok(if sides[0].len() < *ALONE.start() { Default::default() } else { sides })
}

/// Returns the order of the rows in a round. Every other round runs backwards, and each begins with another row, so
/// that no row is always last: a row that is last and then first has two turns in a row.
fn order(round: usize, rows: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    // The golden ratio spreads the starting rows.
    order.rotate_left((round * 618 * rows / 1000) % rows.max(1));
    if !round.is_multiple_of(2) {
        order.reverse();
    }
    order
}

/// Estimates the time of a frame of each row.
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

/// Turn of a row.
struct Turn {
    mode: Mode,
    /// Frames that do not count.
    lead_in: usize,
    /// Samples of a block.
    block: usize,
    /// Frames of a sample.
    run: usize,
    rounds: usize,
}

impl Turn {
    fn plan(mode: Mode, pace: &[Duration], all: &[Contestant<'_>], frames: usize, share: Duration) -> Self {
        let quickest = pace.iter().min().copied().unwrap_or_default();
        let frame_of_all: f64 = pace.iter().map(Duration::as_secs_f64).sum();
        // Frames of each row that fit into one round.
        let fits = (share.as_secs_f64() / ROUNDS as f64 / frame_of_all.max(1e-9)) as usize;
        match mode {
            Mode::Latency => {
                let lead_in = if fits > 2 * LEAD_IN { LEAD_IN } else { 1 };
                let most = frames.div_ceil(ROUNDS);
                let block = fits.saturating_sub(lead_in).clamp(FEWEST_SAMPLES.min(most), most);
                Self { mode, lead_in, block, run: 1, rounds: frames.div_ceil(block) }
            }
            Mode::Throughput => {
                let late = all.iter().map(|c| c.subject.info.frames_behind).max().unwrap_or(0);
                let long = (RUN.as_secs_f64() / quickest.as_secs_f64().max(1e-9)) as usize;
                let run = long.min(fits).clamp(*RUN_FRAMES.start(), *RUN_FRAMES.end());
                let run = run.min(frames).max(RUN_PIPELINES * late).max(1);
                Self { mode, lead_in: LEAD_IN, block: 1, run, rounds: frames.div_ceil(run).max(ROUNDS) }
            }
        }
    }

    /// Measures one block. Returns microseconds per frame for each sample, rounded to nanoseconds.
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
                for _ in 0..self.lead_in {
                    frames(1, subject)?;
                }
                (0..self.block).map(|_| frames(1, subject)).collect()
            }
            Mode::Throughput => {
                frames(self.lead_in, subject)?;
                (0..self.block).map(|_| frames(self.run, subject)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_one_turn_in_a_round_and_none_is_always_at_an_end() {
        for rows in 0..20 {
            let mut first = Vec::new();
            for round in 0..10 {
                let mut order = order(round, rows);
                first.extend(order.first().copied());
                order.sort_unstable();
                assert!(order.into_iter().eq(0..rows));
            }
            first.sort_unstable();
            first.dedup();
            assert!(first.len() >= rows.min(4), "{rows} rows: {first:?}");
        }
    }

    #[test]
    fn time_that_is_short_gives_shorter_turns_never_none() {
        let turn = |mode, pace: u64, share: u64| {
            let pace = [Duration::from_micros(pace); 10];
            Turn::plan(mode, &pace, &[], 200, Duration::from_millis(share))
        };
        let (ample, short) = (turn(Mode::Latency, 10, 60_000), turn(Mode::Latency, 40_000, 100));
        assert_eq!((ample.block, ample.rounds, ample.lead_in), (20, 10, LEAD_IN));
        assert_eq!((short.block, short.lead_in), (FEWEST_SAMPLES, 1));
        assert_eq!(turn(Mode::Throughput, 10, 60_000).run, *RUN_FRAMES.end());
        assert_eq!(turn(Mode::Throughput, 40_000, 100).run, *RUN_FRAMES.start());
        let one = Turn::plan(Mode::Latency, &[], &[], 1, Duration::ZERO);
        assert_eq!((one.block, one.rounds), (1, 1));
    }

    #[test]
    fn what_is_clear_ends_soon_and_what_is_not_has_many_turns() {
        let rounds = |times: [f64; 2], noise: f64, time: u64| {
            let mut n = 0.0;
            let sides = alone(Instant::now() + Duration::from_secs(time), |side| {
                n += 1.0;
                Ok(vec![times[side] + noise * (n % 5.0 - 2.0)])
            });
            sides.unwrap().map(|rounds| rounds.len())
        };
        assert_eq!(rounds([100.0, 100.0], 0.1, 3600), [*ALONE.start(); 2]);
        assert_eq!(rounds([110.0, 100.0], 0.1, 3600), [*ALONE.start(); 2]);
        assert!(rounds([103.0, 100.0], 5.0, 3600)[0] > *ALONE.start());
        assert_eq!(rounds([100.0, 100.0], 0.1, 0), [0, 0], "without time there is no result");
    }
}
