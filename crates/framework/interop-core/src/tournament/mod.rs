//! Candidates that take turns, so that drift of the machine affects all equally: which one is significantly faster, and
//! when that is known.
//!
//! A [`Contestant`] defines a sample. The callers decide what they report and remember:
//!
//! - Paths at the start (`select::calibrate`) challenge the leader; those that are close take turns.
//! - Paths while the program runs (`select::live_trials`) meet the current one, a turn at a time, with a verdict after
//!   each round. A change must be worth it, because the program did not request it.
//! - Pairs of backend and display (`pixelferry::AutoLink`) meet the current one in the same way, in frames that the
//!   program shows.
//! - Manners of a draw (`draw::manners`) and paths to an engine's object (`engine::proof`) are judged by the shortest
//!   of a few times. The draws are the program's own, and their times arrive late; only one path at a time can hold an
//!   object.
//! - Lateness (`select::depth`) is the smallest that costs little time, because each further frame costs memory.

mod entry;
mod stats;
mod time;
mod turn;

pub use entry::{Contestant, Entry, MOST_SAMPLES, TURN, Terms, Verdict};
pub(crate) use entry::{HOPELESS, run_of};
pub use stats::{Ratio, quantile, quantiles};
pub use time::Clock;
pub(crate) use time::{ShortestTime, micros};
pub(crate) use turn::{ComparisonTurn, TurnAnswer};

use crate::describe::error::Error;
use crate::devices::timeline::stage;
use entry::{EQUAL, FEWEST, MOST};
use std::time::Duration;
use time::SteadyDetector;

/// Most candidates that stay open for the last comparison.
const MOST_OPEN: usize = 4;
/// Most memory of the candidates that stay open; two stay open in any case.
pub(crate) const MOST_BYTES: usize = 1 << 30;

/// The remaining candidates, and those that dropped out since the last call of [`Tournament::take_losers`].
pub struct Tournament<T> {
    clock: Clock,
    /// Candidates in the order of rank.
    entries: Vec<Entry<T>>,
    losers: Vec<(Entry<T>, Option<Error>)>,
    round: u32,
    /// Newcomers that share the leader's turn of this round.
    newcomers: u32,
}

impl<T: Contestant> Tournament<T> {
    /// Creates an empty tournament.
    pub fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), entries: Vec::new(), losers: Vec::new(), round: 0, newcomers: 0 }
    }

    /// Returns the approximate time of a newcomer in addition to its opening: its warm-up, a turn like the leader's,
    /// and half a turn of the leader.
    pub(crate) fn challenge_time(&self) -> Duration {
        self.leader().map_or(Duration::ZERO, |leader| {
            leader.frame_time() * SteadyDetector::usual(leader.terms.slots) + leader.turn_time * 3 / 2
        })
    }

    fn round_time(&self) -> Duration {
        self.entries.iter().map(|entry| entry.turn_time).sum()
    }

    /// Adds a candidate that there is no time to compare.
    pub(crate) fn enter(&mut self, entry: Entry<T>) {
        self.entries.push(entry);
    }

    /// Returns the candidates that dropped out, with the error of those that failed.
    pub fn take_losers(&mut self) -> Vec<(Entry<T>, Option<Error>)> {
        std::mem::take(&mut self.losers)
    }

    /// Returns the fastest candidate so far.
    pub fn leader(&self) -> Option<&Entry<T>> {
        self.leader_index().and_then(|i| self.entries.get(i))
    }

    /// Runs one turn of the newcomer and one of the leader. The newcomer stays unless it is hopeless, and may eliminate
    /// the leader.
    pub(crate) fn challenge(&mut self, course: &T::Course<'_>, entry: Entry<T>, deadline: Option<Duration>) {
        let Some(leader) = self.leader_index() else { return self.admit(course, entry, deadline) };
        let newcomer = self.entries.len();
        if !self.settle(course, entry, deadline) {
            return;
        }
        // Two newcomers share one turn of the leader: the first (except for the very first) runs before it, the second
        // after it.
        let shared = self.newcomers < 2 && self.entries[leader].has_turn_in(self.round);
        self.newcomers = if shared { self.newcomers + 1 } else { 1 };
        self.round += u32::from(!shared);
        if !self.turn(course, newcomer) || (!shared && !self.turn(course, leader)) {
            return;
        }
        self.drop_where(|entry, best| entry.ratio_to(best).is_some_and(|r| r.ratio > HOPELESS));
        let largest = self.entries.iter().map(|entry| entry.terms.bytes).max().unwrap_or(0).max(1);
        if self.entries.len() > (MOST_BYTES / largest).clamp(2, MOST_OPEN) {
            let behind = self.behind();
            let worst = (0..behind.len()).max_by(|a, b| behind[*a].total_cmp(&behind[*b]));
            self.lose(worst.unwrap_or(0), None);
        }
    }

    /// Adds a candidate with a turn of its own, which shows how long frames take.
    fn admit(&mut self, course: &T::Course<'_>, entry: Entry<T>, deadline: Option<Duration>) {
        let index = self.entries.len();
        if self.settle(course, entry, deadline) {
            self.round += 1;
            self.turn(course, index);
        }
    }

    /// Warms up a candidate and adds it. The warm-up takes at most a quarter of the time, so that a candidate that
    /// keeps getting faster leaves most of it to the others. Returns false where it failed and dropped out.
    fn settle(&mut self, course: &T::Course<'_>, mut entry: Entry<T>, deadline: Option<Duration>) -> bool {
        let now = self.clock.now();
        let until = deadline.map(|end| now.saturating_add(end.saturating_sub(now) / 4));
        let error = entry.settle(course, &self.clock, until).err();
        let is_in = error.is_none();
        if is_in {
            self.entries.push(entry)
        } else {
            self.losers.push((entry, error))
        }
        is_in
    }

    /// Gives each candidate a turn. The first one and the order change, because a turn is influenced by the work before
    /// it.
    fn take_round(&mut self, course: &T::Course<'_>, turn: u32) {
        self.round += 1;
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        let by = turn as usize / 2 % order.len().max(1);
        order.rotate_left(by);
        if turn % 2 == 1 {
            order.reverse();
        }
        // Candidates behind one that is removed move up.
        while let Some(index) = order.pop() {
            if !self.turn(course, index) {
                order.iter_mut().filter(|i| **i > index).for_each(|i| *i -= 1);
            }
        }
    }

    /// Lets all take turns until one is the fastest, the others are equal to it, or the time is over. Returns those
    /// that could not be told from the best in time.
    pub(crate) fn decide(&mut self, course: &T::Course<'_>, deadline: Option<Duration>) -> Vec<&Entry<T>> {
        let _stage = stage!("decide");
        for turn in 0..MOST {
            if self.entries.len() < 2 || (turn >= FEWEST && self.untold().is_empty()) {
                break;
            }
            if !self.clock.fits(self.round_time(), deadline) {
                return self.untold();
            }
            self.take_round(course, turn);
            if turn + 1 >= FEWEST {
                self.drop_where(|entry, best| best.is_quicker_than(entry));
            }
        }
        Vec::new()
    }

    /// Returns candidates of which it is unknown whether they are equal to the leader.
    fn untold(&self) -> Vec<&Entry<T>> {
        let Some(best) = self.leader() else { return Vec::new() };
        let told = |entry: &&Entry<T>| entry.ratio_to(best).is_some_and(|r| r.most() < 1.0 + EQUAL);
        self.entries.iter().filter(|entry| !std::ptr::eq(*entry, best) && !told(entry)).collect()
    }

    /// Returns the entries, the best first.
    pub fn ranking(&mut self) -> Vec<Entry<T>> {
        let behind = self.behind();
        let mut ranked: Vec<_> = behind.into_iter().zip(self.entries.drain(..)).collect();
        ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ranked.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Returns how far each is behind the leader, as a fraction.
    fn behind(&self) -> Vec<f64> {
        let Some(best) = self.leader() else { return Vec::new() };
        let behind = |entry: &Entry<T>| match entry.ratio_to(best) {
            _ if std::ptr::eq(entry, best) => 0.0,
            Some(ratio) => ratio.ratio,
            None => entry.rough_ratio_to(best).unwrap_or(f64::INFINITY),
        };
        self.entries.iter().map(behind).collect()
    }

    /// Returns the first candidate, or one that is significantly faster than the best before it.
    fn leader_index(&self) -> Option<usize> {
        let ahead = |best: usize, i: usize| if self.entries[i].is_quicker_than(&self.entries[best]) { i } else { best };
        (0..self.entries.len()).reduce(ahead)
    }

    /// Takes a turn; returns false where the candidate failed and dropped out.
    fn turn(&mut self, course: &T::Course<'_>, index: usize) -> bool {
        let error = self.entries[index].turn(course, &self.clock, self.round).err();
        let failed = error.is_some();
        if failed {
            self.lose(index, error);
        }
        !failed
    }

    /// Removes all candidates for which `is_out(entry, leader)` is true.
    fn drop_where(&mut self, is_out: impl Fn(&Entry<T>, &Entry<T>) -> bool) {
        let Some(leader) = self.leader_index() else { return };
        let best = &self.entries[leader];
        let out: Vec<usize> =
            (0..self.entries.len()).filter(|i| *i != leader && is_out(&self.entries[*i], best)).collect();
        for index in out.into_iter().rev() {
            self.lose(index, None);
        }
    }

    fn lose(&mut self, index: usize, error: Option<Error>) {
        let entry = self.entries.remove(index);
        self.losers.push((entry, error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::error::Result;
    use std::cell::RefCell;
    use std::fmt;

    /// One whose frames take so many milliseconds; zero fails.
    struct Fake(u64);

    impl fmt::Display for Fake {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{} ms", self.0)
        }
    }

    impl Contestant for Fake {
        /// Those that had a turn.
        type Course<'a> = RefCell<Vec<u64>>;

        fn sample(&mut self, turns: &RefCell<Vec<u64>>, _: &Clock, _: usize) -> Result<f64> {
            turns.borrow_mut().push(self.0);
            if self.0 == 0 { Err(Error::invalid("sample", "it fails")) } else { Ok(self.0 as f64 * 1e3) }
        }
    }

    fn new() -> (RefCell<Vec<u64>>, Tournament<Fake>) {
        (RefCell::default(), Tournament::new(&Clock::new(|| Duration::ZERO)))
    }

    #[test]
    fn who_goes_first_changes() {
        let (course, mut all) = new();
        all.entries.extend([1, 2, 3, 4].map(|ms| Entry::new(Fake(ms), Terms::default(), true)));
        for turn in 0..8 {
            all.take_round(&course, turn);
        }
        let turns = course.borrow();
        let mut first: Vec<_> = turns.chunks(4).map(|round| round[0]).collect();
        first.sort_unstable();
        assert_eq!(first, [1, 1, 2, 2, 3, 3, 4, 4]);
        assert!(turns.chunks(4).is_sorted_by(|a, b| a != b), "{turns:?}");
    }

    #[test]
    fn what_is_in_use_is_changed_after_seven_rounds_for_what_it_is_worth() {
        // (the newcomer's time beside 1000, rounds, outcome)
        for (ms, rounds, expected) in
            [(2000, 2, Some(false)), (1200, 3, Some(false)), (1000, 5, Some(false)), (900, 7, Some(true))]
        {
            let (course, tournament) = new();
            let [mut newcomer, mut in_use] = [ms, 1000].map(|ms| Entry::new(Fake(ms), Terms::default(), true));
            let mut round = 0;
            let found = loop {
                for _ in 0..2 {
                    let whose = Entry::whose_turn(&mut newcomer, &mut in_use, &mut round);
                    whose.turn(&course, &tournament.clock, round).unwrap();
                }
                match newcomer.verdict(&in_use, false) {
                    Verdict::Open => {}
                    Verdict::Quicker => break Some(true),
                    Verdict::NotQuicker { is_told, .. } => break is_told.then_some(false),
                }
            };
            assert_eq!((found, newcomer.rounds_with(&in_use)), (expected, rounds), "{ms}");
        }
    }
}
