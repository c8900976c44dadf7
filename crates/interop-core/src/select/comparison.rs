//! Ways that take turns, and who is ahead.

use super::attempt::{Way, contained};
use super::clock::Clock;
use super::settling::{Settling, usual};
use super::stats::{Measured, Ratio, is_smaller, quantile};
use super::timing::{time_run, warm_up};
use crate::describe::error::{Error, Result};
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing, SharingPath};
use std::time::Duration;

/// One that takes so many times as long as another is slower, however few the turns.
pub(super) const HOPELESS: f64 = 1.5;
/// Medians that differ by no more than this share count as equal, and rank decides.
const EQUAL: f64 = 0.01;
/// Turns of each before one may be told from another.
const FEWEST_TURNS: u32 = 3;
/// Turns of each at most.
const MOST_TURNS: u32 = 24;
/// Shortest turn: shorter ones would feel the work that ran before.
const TURN: Duration = Duration::from_millis(2);
/// Most frames in a turn.
const MOST_FRAMES: usize = 16;
/// Most paths that stay open for the last comparison.
const MOST_OPEN: usize = 4;
/// Most memory of the paths that stay open; two stay open in any case.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// A way that was opened, and what it costs.
pub(super) struct Entry {
    pub way: Way,
    pub path: OpenedPath,
    /// Its pixels were compared.
    pub proved: bool,
    samples_us: Vec<f64>,
    /// (round, median of the turn in it).
    turns: Vec<(u32, f64)>,
    /// Time that the longest turn took.
    turn_time: Duration,
    /// Frames before the first turn.
    settling: Settling,
}

impl Entry {
    pub fn new(way: Way, path: OpenedPath, proved: bool) -> Self {
        let settling = Settling::new(if proved { 0 } else { path.slots() });
        Self { way, path, proved, samples_us: Vec::new(), turns: Vec::new(), turn_time: Duration::ZERO, settling }
    }

    /// True where a turn would be longer for what is done only once.
    pub fn is_cold(&self) -> bool {
        !self.settling.is_over()
    }

    /// One frame that does not count.
    pub fn warm(&mut self, pairing: &Pairing<'_>, clock: &Clock) -> Result<()> {
        let begun = clock.now();
        warm_up(&mut self.path, pairing, 1)?;
        self.settling.note(clock.since(begun));
        Ok(())
    }

    /// Frames that do not count, until they take no less or it is so late.
    fn settle(&mut self, pairing: &Pairing<'_>, clock: &Clock, until: Option<Duration>) -> Result<()> {
        while self.settling.goes_on(clock.now(), until) {
            self.warm(pairing, clock)?;
        }
        Ok(())
    }

    pub fn measured(&self) -> Measured {
        Measured::of(self.path.sync(), self.path.frames_behind(), self.samples_us.clone())
    }

    /// About, of the turns so far.
    pub fn frame_time(&self) -> Duration {
        Duration::from_nanos((quantile(&self.samples_us, 0.5) * 1e3) as u64)
    }

    /// Returns what one frame takes, about, and whether a turn would end before `deadline`.
    pub fn has_time(&mut self, pairing: &Pairing<'_>, clock: &Clock, deadline: Duration) -> Result<(Duration, bool)> {
        let begun = clock.now();
        contained(|| self.warm(pairing, clock))?;
        let frame = clock.since(begun);
        // A run in which frames are late ends with one draw more.
        let draws = run(pairing) + usize::from(pairing.frames_behind > 0);
        Ok((frame, clock.now() + frame * draws as u32 <= deadline))
    }

    pub fn has_turn_in(&self, round: u32) -> bool {
        self.turns.iter().any(|(r, _)| *r == round)
    }

    /// One turn: frames one by one, or for a pipeline a run in which it turns over.
    pub fn turn(&mut self, pairing: &Pairing<'_>, clock: &Clock, round: u32) -> Result<()> {
        let _stage = stage!("turn", path = %self.way.id, sync = self.way.sync.map(tracing::field::display), round);
        let start = clock.now();
        let begun = self.samples_us.len();
        if pairing.frames_behind > 0 {
            self.samples_us.push(time_run(&mut self.path, pairing, clock, run(pairing))?);
        } else {
            // A short first frame feels what ran before.
            let first = time_run(&mut self.path, pairing, clock, 1)?;
            let of_turn = TURN.as_secs_f64() * 1e6 / first.max(1e-3);
            let more = if of_turn < 1.0 { 0 } else { (of_turn.ceil() as usize).min(MOST_FRAMES) };
            if more == 0 {
                self.samples_us.push(first);
            }
            for _ in 0..more {
                self.samples_us.push(time_run(&mut self.path, pairing, clock, 1)?);
            }
        }
        self.turns.push((round, quantile(&self.samples_us[begun..], 0.5)));
        self.turn_time = self.turn_time.max(clock.since(start));
        Ok(())
    }

    /// Both times of each round in which both had a turn.
    fn common_turns<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, f64)> + 'a {
        let theirs = |round| other.turns.iter().find(|(r, _)| *r == round).map(|(_, us)| *us);
        self.turns.iter().filter_map(move |(round, us)| Some((*us, theirs(*round)?)))
    }

    pub fn ratio_to(&self, other: &Self) -> Option<Ratio> {
        Ratio::of_rounds(self.common_turns(other).map(|(ours, theirs)| ours / theirs))
    }

    /// Compares the medians of all turns, for two entries without a common round: they may have found the machine in
    /// another state.
    fn rough_ratio_to(&self, other: &Self) -> Option<f64> {
        let median = |entry: &Self| quantile(&entry.turns.iter().map(|(_, us)| *us).collect::<Vec<_>>(), 0.5);
        let ratio = median(self) / median(other);
        (ratio.is_finite() && !self.turns.is_empty()).then_some(ratio)
    }

    /// More than chance would do.
    pub fn is_quicker_than(&self, other: &Self) -> bool {
        let (ours, theirs): (Vec<f64>, Vec<f64>) = self.common_turns(other).unzip();
        if ours.is_empty() {
            return self.rough_ratio_to(other).is_some_and(|ratio| ratio < 1.0 / HOPELESS);
        }
        let ratio = quantile(&ours, 0.5) / quantile(&theirs, 0.5);
        ratio < 1.0 / HOPELESS || (ratio < 1.0 - EQUAL && is_smaller(&ours, &theirs))
    }

    /// About.
    fn bytes(&self, pairing: &Pairing<'_>) -> usize {
        // Sizes that cannot be counted were refused before.
        pairing.desc.byte_len().unwrap_or(usize::MAX).saturating_mul(self.path.slots())
    }
}

/// Frames of the shortest turn: of a pipeline, as many as let it turn over.
pub(super) fn run(pairing: &Pairing<'_>) -> usize {
    match pairing.frames_behind {
        0 => 1,
        late => 2 * late + 4,
    }
}

/// Those that are still in, and those that are out since they were last asked for.
#[derive(Default)]
pub(super) struct PathComparison {
    clock: Clock,
    /// In the order in which they came: that of rank.
    entries: Vec<Entry>,
    losers: Vec<(Entry, Option<Error>)>,
    round: u32,
    /// Newcomers that share the leader's turn of this round.
    newcomers: u32,
}

impl PathComparison {
    pub fn new(clock: &Clock) -> Self {
        Self { clock: clock.clone(), ..Self::default() }
    }

    /// Returns what a newcomer takes beside its opening, about: it is warmed up, and has a turn like the leader's and half of one
    /// of the leader's.
    pub fn challenge_time(&self) -> Duration {
        self.leader().map_or(Duration::ZERO, |leader| {
            leader.frame_time() * usual(leader.path.slots()) + leader.turn_time * 3 / 2
        })
    }

    fn round_time(&self) -> Duration {
        self.entries.iter().map(|entry| entry.turn_time).sum()
    }

    /// Lets one in that there is no time to compare.
    pub fn enter(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Those that are out, with the error of those that failed.
    pub fn take_losers(&mut self) -> Vec<(Entry, Option<Error>)> {
        std::mem::take(&mut self.losers)
    }

    /// The one that is ahead so far.
    pub fn leader(&self) -> Option<&Entry> {
        self.leader_index().and_then(|i| self.entries.get(i))
    }

    /// One turn of the newcomer and one of the leader; the newcomer stays in unless it is hopeless, and may throw the
    /// leader out. Before that it settles, until so late at most.
    pub fn challenge(&mut self, pairing: &Pairing<'_>, mut entry: Entry, until: Option<Duration>) {
        if let Err(error) = contained(|| entry.settle(pairing, &self.clock, until)) {
            self.losers.push((entry, Some(error)));
            return;
        }
        let leader = self.leader_index();
        let newcomer = self.entries.len();
        self.entries.push(entry);
        let Some(leader) = leader else {
            // The first: its turn says how long things take.
            self.round += 1;
            self.turn(pairing, newcomer);
            return;
        };
        // Two newcomers share one turn of the leader, the first (but for the very first) before it, the second after it.
        let shared = self.newcomers < 2 && self.entries[leader].has_turn_in(self.round);
        self.newcomers = if shared { self.newcomers + 1 } else { 1 };
        self.round += u32::from(!shared);
        if !self.turn(pairing, newcomer) || (!shared && !self.turn(pairing, leader)) {
            return;
        }
        self.drop_where(|entry, best| entry.ratio_to(best).is_some_and(|r| r.ratio > HOPELESS));
        while self.entries.len() > self.most_open(pairing) {
            let Some(worst) = self.ranking_indices().pop() else { return };
            self.lose(worst, None);
        }
    }

    fn most_open(&self, pairing: &Pairing<'_>) -> usize {
        let largest = self.entries.iter().map(|entry| entry.bytes(pairing)).max().unwrap_or(0).max(1);
        (MOST_BYTES / largest).clamp(2, MOST_OPEN)
    }

    /// Lets all take turns until one is ahead, the others are as good, or the time is over. Returns those that were not told
    /// from the best when it was over.
    pub fn decide(&mut self, pairing: &Pairing<'_>, deadline: Option<Duration>) -> Vec<Way> {
        let _stage = stage!("decide");
        for turn in 0..MOST_TURNS {
            if self.entries.len() < 2 {
                return Vec::new();
            }
            if deadline.is_some_and(|end| self.clock.now() + self.round_time() > end) {
                return self.untold();
            }
            self.round += 1;
            // The first to go changes, as work that ran before is felt.
            let count = self.entries.len();
            let mut order: Vec<usize> = (0..count).collect();
            order.rotate_left(turn as usize % count.max(1));
            if turn % 2 == 1 {
                order.reverse();
            }
            // Those behind one that is taken out move up.
            while let Some(index) = order.pop() {
                if !self.turn(pairing, index) {
                    order.iter_mut().filter(|i| **i > index).for_each(|i| *i -= 1);
                }
            }
            if turn + 1 < FEWEST_TURNS {
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
    fn untold(&self) -> Vec<Way> {
        let Some(best) = self.leader() else { return Vec::new() };
        let told = |entry: &&Entry| entry.ratio_to(best).is_some_and(|r| r.most() < 1.0 + EQUAL);
        self.entries.iter().filter(|entry| !std::ptr::eq(*entry, best) && !told(entry)).map(|entry| entry.way).collect()
    }

    /// Returns the entries, the best first.
    pub fn ranking(&mut self) -> Vec<Entry> {
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
    fn turn(&mut self, pairing: &Pairing<'_>, index: usize) -> bool {
        let round = self.round;
        let entry = &mut self.entries[index];
        match contained(|| entry.turn(pairing, &self.clock, round)) {
            Ok(()) => true,
            Err(error) => {
                self.lose(index, Some(error));
                false
            }
        }
    }

    /// Takes out all of which `is_out(entry, leader)`.
    fn drop_where(&mut self, is_out: impl Fn(&Entry, &Entry) -> bool) {
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
