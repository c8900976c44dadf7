//! One that takes part, and what its turns tell of it beside another.

use super::stats::{Ratio, is_smaller, quantile};
use super::time::{Clock, Settling, micros};
use crate::describe::error::Result;
use crate::describe::panics::contained;
use crate::devices::timeline::stage;
use std::fmt;
use std::time::Duration;

/// One that takes so many times as long as another is slower, however few the turns.
pub(crate) const HOPELESS: f64 = 1.5;
/// Medians that differ by no more than this share count as equal, and rank decides.
pub(super) const EQUAL: f64 = 0.01;
/// Least relative gain that is worth a change of what is in use.
const WORTH: f64 = 0.015;
/// Least relative slowdown of one that is clearly slower, which is found so after few rounds.
const CLEARLY: f64 = 0.1;
/// Fewest turns of each before one may be found slower.
pub(super) const FEWEST: u32 = 3;
/// Fewest turns of each before two may be found as good.
const SOME: u32 = 5;
/// Fewest turns of each before what is in use is changed: more than for others, as a wrong change is worse than none.
const FEWEST_TO_CHANGE: u32 = 7;
/// Turns of each at most, where others wait for the time.
pub(super) const MOST: u32 = 24;
/// Turns of each at most in any case.
const LAST: u32 = 96;
/// Most samples in a turn.
pub const MOST_SAMPLES: usize = 16;

/// Length of a turn of which there will be many.
pub const TURN: Duration = Duration::from_millis(2);

/// One that can take part. Its name says who it is; its errors are what the backend or the display reports.
pub trait Contestant: fmt::Display {
    /// What it runs on: the same for all that it meets.
    type Course<'a>;

    /// Gets ready for a turn.
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    /// Makes one frame that does not count: what is built and allocated at the first use.
    ///
    /// # Errors
    /// What a sample reports.
    fn warm(&mut self, course: &Self::Course<'_>, clock: &Clock) -> Result<()> {
        self.sample(course, clock, 1).map(drop)
    }

    /// Microseconds a frame, over a run of so many that are all waited for.
    fn sample(&mut self, course: &Self::Course<'_>, clock: &Clock, frames: usize) -> Result<f64>;
}

/// Terms on which one takes part.
#[derive(Clone, Copy, Default)]
pub struct Terms {
    /// Length of a turn, about: a shorter one would feel the work that ran before. Zero: one sample, however long.
    pub turn: Duration,
    /// Number of frames on their way: a sample is a run in which all of them turn over.
    pub frames_behind: usize,
    /// Number of memories that frames go through in turn.
    pub slots: usize,
    /// Bytes that it holds, about, where it is one of many that do.
    pub bytes: usize,
}

/// One that takes part, with the times of its turns.
pub struct Entry<T> {
    /// The contestant.
    pub who: T,
    pub(super) terms: Terms,
    samples_us: Vec<f64>,
    /// (round, median of the turn in it).
    turns: Vec<(u32, f64)>,
    /// Time that the longest turn took.
    pub(super) turn_time: Duration,
    /// Frames before the first turn.
    settling: Settling,
}

impl<T: Contestant> Entry<T> {
    /// Makes one frame that does not count, and returns what it took.
    pub fn warm(&mut self, course: &T::Course<'_>, clock: &Clock) -> Result<Duration> {
        let begun = clock.now();
        contained(|| self.who.warm(course, clock))?;
        let took = clock.since(begun);
        self.settling.note(took);
        Ok(took)
    }

    /// Makes frames that do not count, until they take no less or it is so late.
    pub(super) fn settle(&mut self, course: &T::Course<'_>, clock: &Clock, until: Option<Duration>) -> Result<()> {
        while self.settling.goes_on(clock.now(), until) {
            self.warm(course, clock)?;
        }
        Ok(())
    }

    /// Takes one turn: frames one by one, or for a pipeline runs in which it turns over.
    pub fn turn(&mut self, course: &T::Course<'_>, clock: &Clock, round: u32) -> Result<()> {
        let _stage = stage!("turn", of = %self.who, round);
        let (start, begun) = (clock.now(), self.samples_us.len());
        contained(|| {
            self.who.begin()?;
            let frames = run_of(self.terms.frames_behind);
            // A short first sample feels what ran before.
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
    /// Enters one. It settles before its first turn, the sooner if it `has_run`.
    pub fn new(who: T, terms: Terms, has_run: bool) -> Self {
        let settling = Settling::new(if has_run { 0 } else { terms.slots });
        Self { who, terms, samples_us: Vec::new(), turns: Vec::new(), turn_time: Duration::ZERO, settling }
    }

    /// True where a turn would be longer for what is done only once.
    pub fn is_cold(&self) -> bool {
        !self.settling.is_over()
    }

    /// Notes a frame that does not count, which a program showed.
    pub fn note_first(&mut self, took: Duration) {
        self.settling.note(took);
    }

    /// Notes a turn of frames that a program showed.
    pub fn note_turn(&mut self, round: u32, samples_us: &[f64]) {
        self.samples_us.extend(samples_us);
        self.turns.push((round, quantile(samples_us, 0.5)));
    }

    /// Every sample, microseconds a frame.
    pub fn samples_us(&self) -> &[f64] {
        &self.samples_us
    }

    /// Time of a frame, about.
    pub(super) fn frame_time(&self) -> Duration {
        micros(quantile(&self.samples_us, 0.5))
    }

    /// True where it had a turn in that round.
    pub fn has_turn_in(&self, round: u32) -> bool {
        self.turns.iter().any(|(r, _)| *r == round)
    }

    /// Both times of each round in which both had a turn.
    fn common_turns<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, f64)> + 'a {
        let theirs = |round| other.turns.iter().find(|(r, _)| *r == round).map(|(_, us)| *us);
        self.turns.iter().filter_map(move |(round, us)| Some((*us, theirs(*round)?)))
    }

    /// Its time by that of another, over the rounds in which both had a turn.
    pub fn ratio_to(&self, other: &Self) -> Option<Ratio> {
        Ratio::of_rounds(self.common_turns(other).map(|(ours, theirs)| ours / theirs))
    }

    /// Compares the medians of all turns, for two entries without a common round: they may have found the machine in
    /// another state.
    pub(super) fn rough_ratio_to(&self, other: &Self) -> Option<f64> {
        let median = |entry: &Self| quantile(&entry.turns.iter().map(|(_, us)| *us).collect::<Vec<_>>(), 0.5);
        let ratio = median(self) / median(other);
        (ratio.is_finite() && !self.turns.is_empty()).then_some(ratio)
    }

    /// More than chance would do.
    pub(super) fn is_quicker_than(&self, other: &Self) -> bool {
        let (ours, theirs): (Vec<f64>, Vec<f64>) = self.common_turns(other).unzip();
        if ours.is_empty() {
            return self.rough_ratio_to(other).is_some_and(|ratio| ratio < 1.0 / HOPELESS);
        }
        let ratio = quantile(&ours, 0.5) / quantile(&theirs, 0.5);
        ratio < 1.0 / HOPELESS || (ratio < 1.0 - EQUAL && is_smaller(&ours, &theirs))
    }

    /// Whose turn it is of two, in a round that is the next where both had theirs: who was first is then second.
    pub fn whose_turn<'a>(newcomer: &'a mut Self, in_use: &'a mut Self, round: &mut u32) -> &'a mut Self {
        *round += u32::from(newcomer.has_turn_in(*round) && in_use.has_turn_in(*round));
        if newcomer.has_turn_next(in_use, *round) { newcomer } else { in_use }
    }

    /// True where the turn in this round, in which not both had theirs, is the newcomer's and not that of the one in use.
    pub fn has_turn_next(&self, in_use: &Self, round: u32) -> bool {
        if round.is_multiple_of(2) { !self.has_turn_in(round) } else { in_use.has_turn_in(round) }
    }

    /// Number of rounds in which both had a turn.
    pub(crate) fn rounds_with(&self, other: &Self) -> u32 {
        self.common_turns(other).count() as u32
    }

    /// Returns what is known of a newcomer after a round with the one in use, which is not changed for less than it
    /// takes to go over. Two of whom chance decides count as equal after 24 rounds, after 96 where there
    /// `is_time`.
    pub fn verdict(&self, in_use: &Self, is_time: bool) -> Verdict {
        let Some(ratio) = self.ratio_to(in_use) else { return Verdict::Open };
        let rounds = self.rounds_with(in_use);
        let behind = |is_told| Verdict::NotQuicker { is_slower: ratio.ratio > 1.0 + WORTH, is_told };
        let is_ahead = || self.is_quicker_than(in_use) && ratio.ratio < 1.0 - WORTH && ratio.most() < 1.0;
        match rounds {
            // In one round, chance can do that.
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

/// Knowledge of a newcomer after a round.
pub enum Verdict {
    /// Another round is needed.
    Open,
    /// It is quicker, and worth a change.
    Quicker,
    /// It is not, or not by enough.
    NotQuicker {
        /// It takes longer by more than a change is worth.
        is_slower: bool,
        /// False where chance decided, as there was no time for more rounds.
        is_told: bool,
    },
}

/// Number of frames in a sample: of a pipeline, as many as let it turn over.
pub(crate) const fn run_of(frames_behind: usize) -> usize {
    if frames_behind == 0 { 1 } else { 2 * frames_behind + 4 }
}
