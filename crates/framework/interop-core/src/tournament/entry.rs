//! A candidate with its turns, and comparisons with another one.

use super::stats::{Ratio, is_smaller, quantile};
use super::time::{Clock, SteadyDetector, micros};
use crate::describe::error::Result;
use crate::describe::panics::contained;
use crate::devices::timeline::stage;
use std::fmt;
use std::time::Duration;

/// A candidate that takes this many times as long as another is slower, however few the turns.
pub(crate) const HOPELESS: f64 = 1.5;
/// Medians that differ by at most this share count as equal, and rank decides.
pub(super) const EQUAL: f64 = 0.01;
/// Smallest relative gain that is worth changing the current candidate.
const WORTH: f64 = 0.015;
/// Smallest relative slowdown that counts as clearly slower, which takes few rounds to establish.
const CLEARLY: f64 = 0.1;
/// Fewest turns of each before one may be found slower.
pub(super) const FEWEST: u32 = 3;
/// Fewest turns of each before two may be found equal.
const SOME: u32 = 5;
/// Fewest turns of each before the current candidate changes: more than for other verdicts, because a wrong change is
/// worse than none.
const FEWEST_TO_CHANGE: u32 = 7;
/// Most turns of each, where others wait for the time.
pub(super) const MOST: u32 = 24;
/// Most turns of each in any case.
const LAST: u32 = 96;
/// Most samples in a turn.
pub const MOST_SAMPLES: usize = 16;

/// Length of a turn where many turns follow.
pub const TURN: Duration = Duration::from_millis(2);

/// A candidate. `Display` gives its name, and its errors are those of the backend or the display.
pub trait Contestant: fmt::Display {
    /// What it runs on, shared by all candidates that it meets.
    type Course<'a>;

    /// Prepares a turn.
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes one warm-up frame, for the work that is done only at first use.
    ///
    /// # Errors
    /// Those of a sample.
    fn warm(&mut self, course: &Self::Course<'_>, clock: &Clock) -> Result<()> {
        self.sample(course, clock, 1).map(drop)
    }

    /// Returns microseconds a frame, over a run of `frames` frames that are all waited for.
    fn sample(&mut self, course: &Self::Course<'_>, clock: &Clock, frames: usize) -> Result<f64>;
}

/// Conditions under which a candidate takes part.
#[derive(Clone, Copy, Default)]
pub struct Terms {
    /// Approximate length of a turn; a shorter one would be influenced by the work before it. Zero means a single
    /// sample, however long.
    pub turn: Duration,
    /// Number of frames in flight: a sample is a run in which all of them are replaced.
    pub frames_behind: usize,
    /// Number of slots that frames use in turn.
    pub slots: usize,
    /// Approximate number of bytes that it uses, where many candidates are open at once.
    pub bytes: usize,
}

/// A candidate with the times of its turns.
pub struct Entry<T> {
    /// The candidate itself.
    pub who: T,
    pub(super) terms: Terms,
    samples_us: Vec<f64>,
    /// Pairs of a round and the median of its turn in that round.
    turns: Vec<(u32, f64)>,
    /// Duration of the longest turn.
    pub(super) turn_time: Duration,
    /// Warm-up frames before the first turn.
    settling: SteadyDetector,
}

impl<T: Contestant> Entry<T> {
    /// Makes one warm-up frame and returns its duration.
    pub fn warm(&mut self, course: &T::Course<'_>, clock: &Clock) -> Result<Duration> {
        let begun = clock.now();
        contained(|| self.who.warm(course, clock))?;
        let took = clock.since(begun);
        self.settling.note(took);
        Ok(took)
    }

    /// Makes warm-up frames until they get no faster, or until the deadline.
    pub(super) fn settle(&mut self, course: &T::Course<'_>, clock: &Clock, until: Option<Duration>) -> Result<()> {
        while self.settling.goes_on(clock.now(), until) {
            self.warm(course, clock)?;
        }
        Ok(())
    }

    /// Takes one turn: single frames, or for a pipeline runs in which all frames in flight are replaced.
    pub fn turn(&mut self, course: &T::Course<'_>, clock: &Clock, round: u32) -> Result<()> {
        let _stage = stage!("turn", of = %self.who, round);
        let (start, begun) = (clock.now(), self.samples_us.len());
        contained(|| {
            self.who.begin()?;
            let frames = run_of(self.terms.frames_behind);
            // A short first sample is influenced by the work before it.
            let first = self.who.sample(course, clock, frames)?;
            let of_turn = self.terms.turn.as_secs_f64() * 1e6 / first.max(1e-3);
            let more = if of_turn < 1.0 { 0 } else { (of_turn.ceil() as usize).min(MOST_SAMPLES) };
            if more == 0 {
                self.samples_us.push(first);
            }
            for _ in 0..more {
                self.samples_us.push(self.who.sample(course, clock, frames)?);
            }
            Ok(())
        })?;
        self.turns.push((round, quantile(&self.samples_us[begun..], 0.5)));
        self.turn_time = self.turn_time.max(clock.since(start));
        Ok(())
    }
}

impl<T> Entry<T> {
    /// Creates an entry. It warms up before its first turn, for a shorter time if it `has_run`.
    pub fn new(who: T, terms: Terms, has_run: bool) -> Self {
        let settling = SteadyDetector::new(if has_run { 0 } else { terms.slots });
        Self { who, terms, samples_us: Vec::new(), turns: Vec::new(), turn_time: Duration::ZERO, settling }
    }

    /// True where one-time work would still lengthen a turn.
    pub fn is_cold(&self) -> bool {
        !self.settling.is_over()
    }

    /// Records a warm-up frame that a program showed.
    pub fn note_first(&mut self, took: Duration) {
        self.settling.note(took);
    }

    /// Records a turn of frames that a program showed.
    pub fn note_turn(&mut self, round: u32, samples_us: &[f64]) {
        self.samples_us.extend(samples_us);
        self.turns.push((round, quantile(samples_us, 0.5)));
    }

    /// Returns every sample, in microseconds a frame.
    pub fn samples_us(&self) -> &[f64] {
        &self.samples_us
    }

    /// Returns the approximate time of a frame.
    pub(super) fn frame_time(&self) -> Duration {
        micros(quantile(&self.samples_us, 0.5))
    }

    /// True where it had a turn in that round.
    pub fn has_turn_in(&self, round: u32) -> bool {
        self.turns.iter().any(|(r, _)| *r == round)
    }

    /// Iterates over both times of each round in which both had a turn.
    fn common_turns<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, f64)> + 'a {
        let theirs = |round| other.turns.iter().find(|(r, _)| *r == round).map(|(_, us)| *us);
        self.turns.iter().filter_map(move |(round, us)| Some((*us, theirs(*round)?)))
    }

    /// Returns the ratio of its time to that of another, over the rounds in which both had a turn.
    pub fn ratio_to(&self, other: &Self) -> Option<Ratio> {
        Ratio::of_rounds(self.common_turns(other).map(|(ours, theirs)| ours / theirs))
    }

    /// Compares the medians of all turns, for two entries without a common round. The state of the machine may have
    /// differed between them.
    pub(super) fn rough_ratio_to(&self, other: &Self) -> Option<f64> {
        let median = |entry: &Self| quantile(&entry.turns.iter().map(|(_, us)| *us).collect::<Vec<_>>(), 0.5);
        let ratio = median(self) / median(other);
        (ratio.is_finite() && !self.turns.is_empty()).then_some(ratio)
    }

    /// True where it is significantly faster.
    pub(super) fn is_quicker_than(&self, other: &Self) -> bool {
        let (ours, theirs): (Vec<f64>, Vec<f64>) = self.common_turns(other).unzip();
        if ours.is_empty() {
            return self.rough_ratio_to(other).is_some_and(|ratio| ratio < 1.0 / HOPELESS);
        }
        let ratio = quantile(&ours, 0.5) / quantile(&theirs, 0.5);
        ratio < 1.0 / HOPELESS || (ratio < 1.0 - EQUAL && is_smaller(&ours, &theirs))
    }

    /// Returns the entry whose turn is next, in the round after the last in which both had a turn: the first of one
    /// round is the second of the next.
    pub fn whose_turn<'a>(newcomer: &'a mut Self, in_use: &'a mut Self, round: &mut u32) -> &'a mut Self {
        *round += u32::from(newcomer.has_turn_in(*round) && in_use.has_turn_in(*round));
        if newcomer.has_turn_next(in_use, *round) { newcomer } else { in_use }
    }

    /// True where the next turn in this unfinished round belongs to the newcomer and not to the current candidate.
    pub fn has_turn_next(&self, in_use: &Self, round: u32) -> bool {
        if round.is_multiple_of(2) { !self.has_turn_in(round) } else { in_use.has_turn_in(round) }
    }

    /// Number of rounds in which both had a turn.
    pub(crate) fn rounds_with(&self, other: &Self) -> u32 {
        self.common_turns(other).count() as u32
    }

    /// Compares a newcomer with the current candidate after a round. The current one is only changed for a gain that is
    /// worth the change. Two that remain indistinguishable count as equal after 24 rounds, or after 96 if `is_time`.
    pub fn verdict(&self, in_use: &Self, is_time: bool) -> Verdict {
        let Some(ratio) = self.ratio_to(in_use) else { return Verdict::Open };
        let rounds = self.rounds_with(in_use);
        let behind = |is_told| Verdict::NotQuicker { is_slower: ratio.ratio > 1.0 + WORTH, is_told };
        let is_ahead = || self.is_quicker_than(in_use) && ratio.ratio < 1.0 - WORTH && ratio.most() < 1.0;
        match rounds {
            // In a single round this could be chance.
            2.. if ratio.least() > HOPELESS => Verdict::NotQuicker { is_slower: true, is_told: true },
            FEWEST.. if ratio.least() > 1.0 + CLEARLY && in_use.is_quicker_than(self) => behind(true),
            ..SOME => Verdict::Open,
            FEWEST_TO_CHANGE.. if is_ahead() => Verdict::Quicker,
            SOME.. if in_use.is_quicker_than(self) || ratio.least() > 1.0 - WORTH => behind(true),
            _ if rounds >= if is_time { LAST } else { MOST } => behind(is_time),
            _ => Verdict::Open,
        }
    }
}

/// Knowledge about a newcomer after a round.
pub enum Verdict {
    /// Another round is needed.
    Open,
    /// It is faster, and worth a change.
    Quicker,
    /// It is not faster, or not by enough.
    NotQuicker {
        /// True where it is slower by more than a change would have to gain.
        is_slower: bool,
        /// False where there was no time for enough rounds to tell.
        is_told: bool,
    },
}

/// Number of frames in a sample: for a pipeline, as many as replace all frames in flight.
pub(crate) const fn run_of(frames_behind: usize) -> usize {
    if frames_behind == 0 { 1 } else { 2 * frames_behind + 4 }
}
