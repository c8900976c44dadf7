//! Candidates that take turns, so that drift of the machine hits all alike; who is ahead by more than chance; when it is over.
//!
//! A [`Contestant`] says what a sample is. What is reported and remembered is up to those who choose:
//!
//! | candidates | rule |
//! |---|---|
//! | paths at the start (`select::calibrate`) | each has [`Tournament::challenge`], those that are close [`Tournament::decide`] |
//! | paths while the program runs (`select::meanwhile`) | after each round a [`Verdict`] on a pair: a change must be worth it |
//! | pairs of backend and display (`pixelferry::LinkBuilder`) | [`Tournament::duel`] with the best so far: many open devices would be too much |
//! | manners of a draw (`draw::manners`), ways to an engine's object (`engine::choose`) | the [`Shortest`] of a few, as their users wait for it, and what differs little may be either |
//! | lateness (`select::depth`) | the least within 2 % of the quickest, as one costs memory, the other time |

mod entry;
mod stats;
mod time;

pub(crate) use entry::{HOPELESS, Verdict, contained};
pub use entry::{Contestant, Entry, TURN, run_of};
pub use stats::{Ratio, quantile, quantiles};
pub use time::Clock;
pub(crate) use time::Shortest;

use crate::describe::error::Error;
use crate::devices::timeline::stage;
use entry::{EQUAL, FEWEST, MOST, SOME};
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

    /// Returns what a newcomer takes beside its opening, about: it is warmed up, and has a turn like the leader's and half of one
    /// of the leader's.
    pub(crate) fn challenge_time(&self) -> Duration {
        self.leader().map_or(Duration::ZERO, |leader| {
            leader.frame_time() * Settling::usual(leader.who.slots()) + leader.turn_time * 3 / 2
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
        // Two newcomers share one turn of the leader, the first (but for the very first) before it, the second after it.
        let shared = self.newcomers < 2 && self.entries[leader].has_turn_in(self.round);
        self.newcomers = if shared { self.newcomers + 1 } else { 1 };
        self.round += u32::from(!shared);
        if !self.turn(course, newcomer) || (!shared && !self.turn(course, leader)) {
            return;
        }
        self.drop_where(|entry, best| entry.ratio_to(best).is_some_and(|r| r.ratio > HOPELESS));
        while self.entries.len() > self.most_open(course) {
            let Some(worst) = self.ranking_indices().pop() else { return };
            self.lose(worst, None);
        }
    }

    /// Lets a newcomer and the best so far take turns, two rounds at least and none that begins after `end`. The better one
    /// stays.
    pub fn duel(&mut self, course: &T::Course<'_>, newcomer: Entry<T>, end: Duration) {
        // Alone, it tells that it can.
        self.admit(course, newcomer, Some(end));
        for turn in 0..SOME {
            self.take_round(course, turn);
            let [old, new] = self.entries.as_slice() else { return };
            let Some(ratio) = new.ratio_to(old) else { continue };
            // In one round, chance can do that.
            let is_clear = ratio.least() > HOPELESS || ratio.most() < 1.0 / HOPELESS;
            if turn + 1 == SOME || (turn > 0 && (is_clear || self.clock.now() >= end)) {
                return self.lose(usize::from(ratio.most() >= 1.0), None);
            }
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

    /// Lets one in that has settled, for a quarter of the time at most: one that gets quicker for long leaves most of it to the
    /// others. False where it failed and is out.
    fn settle(&mut self, course: &T::Course<'_>, mut entry: Entry<T>, deadline: Option<Duration>) -> bool {
        let now = self.clock.now();
        let until = deadline.map(|end| now.saturating_add(end.saturating_sub(now) / 4));
        match entry.settle(course, &self.clock, until) {
            Ok(()) => self.entries.push(entry),
            Err(error) => {
                self.losers.push((entry, Some(error)));
                return false;
            }
        }
        true
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

    fn most_open(&self, course: &T::Course<'_>) -> usize {
        let largest = self.entries.iter().map(|entry| entry.who.bytes(course)).max().unwrap_or(0).max(1);
        (MOST_BYTES / largest).clamp(2, MOST_OPEN)
    }

    /// Lets all take turns until one is ahead, the others are as good, or the time is over. Returns those that were not told
    /// from the best when it was over.
    pub(crate) fn decide(&mut self, course: &T::Course<'_>, deadline: Option<Duration>) -> Vec<&Entry<T>> {
        let _stage = stage!("decide");
        for turn in 0..MOST {
            if self.entries.len() < 2 {
                return Vec::new();
            }
            if !self.clock.fits(self.round_time(), deadline) {
                return self.untold();
            }
            self.take_round(course, turn);
            if turn + 1 < FEWEST {
                continue;
            }
            self.drop_where(|entry, best| best.is_quicker_than(entry));
            if self.untold().is_empty() {
                return Vec::new();
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
        let order = self.ranking_indices();
        let mut entries: Vec<_> = std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        order.into_iter().filter_map(|index| entries[index].take()).collect()
    }

    /// The leader, then the others by how far they are behind it.
    fn ranking_indices(&self) -> Vec<usize> {
        let Some(leader) = self.leader_index() else { return Vec::new() };
        let behind = |index: &usize| match self.entries[*index].ratio_to(&self.entries[leader]) {
            _ if *index == leader => 0.0,
            Some(ratio) => ratio.ratio,
            None => self.entries[*index].rough_ratio_to(&self.entries[leader]).unwrap_or(f64::INFINITY),
        };
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by(|a, b| behind(a).total_cmp(&behind(b)));
        order
    }

    /// The first, or one that beats the best before it by more than chance.
    fn leader_index(&self) -> Option<usize> {
        let mut leader = 0;
        for index in 1..self.entries.len() {
            if self.entries[index].is_quicker_than(&self.entries[leader]) {
                leader = index;
            }
        }
        (!self.entries.is_empty()).then_some(leader)
    }

    /// False where it failed and is out.
    fn turn(&mut self, course: &T::Course<'_>, index: usize) -> bool {
        let round = self.round;
        let entry = &mut self.entries[index];
        match entry.turn(course, &self.clock, round) {
            Ok(()) => true,
            Err(error) => {
                self.lose(index, Some(error));
                false
            }
        }
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
