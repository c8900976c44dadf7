//! Candidates that take turns, so that drift of the machine hits all alike: who is ahead by more than chance, and when
//! that is known.
//!
//! A [`Contestant`] says what a sample is. What is reported and remembered is up to those who choose:
//!
//! - Paths at the start (`select::calibrate`) challenge the leader; those that are close take turns.
//! - Paths while the program runs (`select::meanwhile`) meet the one in use, a turn at a time. After each round there
//!   is a verdict. A change must be worth it, as nobody asked for it.
//! - Pairs of backend and display (`pixelferry::AutoLink`) meet the one in use as paths do, in frames that the program
//!   shows.
//! - Manners of a draw (`draw::manners`) and ways to an engine's object (`engine::proof`) have the shortest of a few
//!   times. The draws are the program's own, whose times come late; an object is held by one way at a time.
//! - Lateness (`select::depth`) is the least that costs little, as each frame more costs memory.

mod entry;
mod stats;
mod time;

pub use entry::{Contestant, Entry, MOST_SAMPLES, TURN, Terms, Verdict};
pub(crate) use entry::{HOPELESS, run_of};
pub use stats::{Ratio, quantile, quantiles};
pub use time::Clock;
pub(crate) use time::{Shortest, micros};

use crate::describe::error::Error;
use crate::devices::timeline::stage;
use entry::{EQUAL, FEWEST, MOST};
use std::time::Duration;
use time::Settling;

/// Most that stay open for the last comparison.
const MOST_OPEN: usize = 4;
/// Most memory of those that stay open; two stay open in any case.
pub(crate) const MOST_BYTES: usize = 1 << 30;

/// Those that are still in, and those that are out since they were last asked for.
pub struct Tournament<T> {
    clock: Clock,
    /// In the order in which they came: that of rank.
    entries: Vec<Entry<T>>,
    losers: Vec<(Entry<T>, Option<Error>)>,
    round: u32,
    /// Newcomers that share the leader's turn of this round.
    newcomers: u32,
}

impl<T: Contestant> Tournament<T> {
    /// One in which nobody takes part yet.
    pub fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), entries: Vec::new(), losers: Vec::new(), round: 0, newcomers: 0 }
    }

    /// Returns what a newcomer takes beside its opening, about: it is warmed up, and has a turn like the leader's and
    /// half of one of the leader's.
    pub(crate) fn challenge_time(&self) -> Duration {
        self.leader().map_or(Duration::ZERO, |leader| {
            leader.frame_time() * Settling::usual(leader.terms.slots) + leader.turn_time * 3 / 2
        })
    }

    fn round_time(&self) -> Duration {
        self.entries.iter().map(|entry| entry.turn_time).sum()
    }

    /// Lets one in that there is no time to compare.
    pub(crate) fn enter(&mut self, entry: Entry<T>) {
        self.entries.push(entry);
    }

    /// Those that are out, with the error of those that failed.
    pub fn take_losers(&mut self) -> Vec<(Entry<T>, Option<Error>)> {
        std::mem::take(&mut self.losers)
    }

    /// The one that is ahead so far.
    pub fn leader(&self) -> Option<&Entry<T>> {
        self.leader_index().and_then(|i| self.entries.get(i))
    }

    /// One turn of the newcomer and one of the leader; the newcomer stays in unless it is hopeless, and may throw the
    /// leader out.
    pub(crate) fn challenge(&mut self, course: &T::Course<'_>, entry: Entry<T>, deadline: Option<Duration>) {
        let Some(leader) = self.leader_index() else { return self.admit(course, entry, deadline) };
        let newcomer = self.entries.len();
        if !self.settle(course, entry, deadline) {
            return;
        }
        // Two newcomers share one turn of the leader, the first (except for the very first) before it, the second after
        // it.
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

    /// Lets one in for a turn of its own, which says how long things take.
    fn admit(&mut self, course: &T::Course<'_>, entry: Entry<T>, deadline: Option<Duration>) {
        let index = self.entries.len();
        if self.settle(course, entry, deadline) {
            self.round += 1;
            self.turn(course, index);
        }
    }

    /// Lets one in that has settled, for a quarter of the time at most: one that gets quicker for long leaves most of
    /// it to the others. False where it failed and is out.
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

    /// Gives each a turn. The first to go changes, and so does who follows whom, as work that ran before is felt.
    fn take_round(&mut self, course: &T::Course<'_>, turn: u32) {
        self.round += 1;
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        let by = turn as usize / 2 % order.len().max(1);
        order.rotate_left(by);
        if turn % 2 == 1 {
            order.reverse();
        }
        // Those behind one that is taken out move up.
        while let Some(index) = order.pop() {
            if !self.turn(course, index) {
                order.iter_mut().filter(|i| **i > index).for_each(|i| *i -= 1);
            }
        }
    }

    /// Lets all take turns until one is ahead, the others are as good, or the time is over. Returns those that were not
    /// told from the best when it was over.
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

    /// Those of which it is not known that they are as good as the leader.
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

    /// Tells how far each is behind the leader.
    fn behind(&self) -> Vec<f64> {
        let Some(best) = self.leader() else { return Vec::new() };
        let behind = |entry: &Entry<T>| match entry.ratio_to(best) {
            _ if std::ptr::eq(entry, best) => 0.0,
            Some(ratio) => ratio.ratio,
            None => entry.rough_ratio_to(best).unwrap_or(f64::INFINITY),
        };
        self.entries.iter().map(behind).collect()
    }

    /// The first, or one that beats the best before it by more than chance.
    fn leader_index(&self) -> Option<usize> {
        let ahead = |best: usize, i: usize| if self.entries[i].is_quicker_than(&self.entries[best]) { i } else { best };
        (0..self.entries.len()).reduce(ahead)
    }

    /// False where it failed and is out.
    fn turn(&mut self, course: &T::Course<'_>, index: usize) -> bool {
        let error = self.entries[index].turn(course, &self.clock, self.round).err();
        let failed = error.is_some();
        if failed {
            self.lose(index, error);
        }
        !failed
    }

    /// Takes out all of which `is_out(entry, leader)`.
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
