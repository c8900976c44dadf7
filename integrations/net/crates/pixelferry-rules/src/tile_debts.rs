//! Workers that are connected but send nothing: their tiles are given to others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

/// A worker may be silent for this many times the usual duration.
const TIMES: u32 = 4;
/// Limits of that time: at least this long if nothing is known yet (the first tile may wait for a compiler), and at
/// most.
const LEAST: Duration = Duration::from_millis(200);
const USUAL: Duration = Duration::from_secs(2);
const MOST_PATIENCE: Duration = Duration::from_secs(60);
/// Waits from which the usual one is known.
const KEPT: usize = 64;
/// Initial time for which a worker is passed over; it doubles each time.
const PAUSE: Duration = Duration::from_secs(2);
const MOST_DOUBLINGS: u32 = 7;
/// More workers than in any cluster must be invented.
const MOST: usize = 4096;

/// Since when each worker owes tiles, and who is passed over for that.
#[derive(Debug, Default)]
pub struct TileDebts {
    rows: BTreeMap<u64, DebtRow>,
    /// The longest wait for each worker in each frame, of the newest.
    waits: VecDeque<Duration>,
}

/// A worker that owes tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileDebt {
    /// Number of the worker, as in its key.
    pub node: u64,
    /// Time since it should have sent something.
    pub waited: Duration,
    /// Whether its tiles are given to others meanwhile.
    pub is_passed_over: bool,
}

impl fmt::Display for TileDebt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = if self.is_passed_over { ", others get them" } else { "" };
        write!(f, "worker {:016x} has owed tiles for {:.1} s{others}", self.node, self.waited.as_secs_f32())
    }
}

#[derive(Debug, Default)]
struct DebtRow {
    /// Since when it owes tiles and sent none.
    owes: Option<Instant>,
    /// The longest wait for it in this frame.
    longest: Duration,
    /// Time that it has been seen to need.
    patience: Duration,
    /// Since when and until when others get its tiles.
    passed: Option<(Instant, Instant)>,
    /// Number of failed attempts since it came back, and the end of the last one.
    times: u32,
    until: Option<Instant>,
    has_sent: bool,
}

impl DebtRow {
    fn pass_over(&mut self, since: Instant, now: Instant) {
        let pause = |times: u32| PAUSE * (1 << times.min(MOST_DOUBLINGS));
        // It may send all tiles but one, which it cannot compute.
        let did_well = |until: Instant| since.duration_since(until) >= pause(self.times.saturating_sub(1));
        if self.until.is_none_or(did_well) {
            self.times = 0;
        }
        let until = now + pause(self.times);
        (self.passed, self.owes, self.until) = (Some((since, until)), None, Some(until));
        self.times += 1;
    }

    /// Twice the longest wait, or less than what was needed before: a hang of long ago is forgotten.
    fn learn(&mut self) {
        self.patience = (self.longest * 2).max(self.patience * 3 / 4).min(MOST_PATIENCE);
    }
}

impl TileDebts {
    /// Takes who owes tiles now, of those who live; nobody else does. Where one owes for too long, all that never sent a tile are
    /// passed over with it, if somebody did: tokens of invented workers are cheap. The deadline bounds the patience with those
    /// of whom nothing is known.
    pub fn look(&mut self, owners: &BTreeSet<u64>, live: impl Iterator<Item = u64>, deadline: Duration, now: Instant) {
        for (node, row) in &mut self.rows {
            row.passed.take_if(|(_, until)| now >= *until);
            if !owners.contains(node) {
                row.owes = None;
            }
        }
        let usual = self.usual().min(deadline.max(LEAST));
        let mut is_late = false;
        for &node in owners {
            let Some(row) = self.row(node) else { return };
            let since = *row.owes.get_or_insert(now);
            let waited = now.duration_since(since);
            if waited >= row.patience.max(usual) {
                tracing::warn!("{}", TileDebt { node, waited, is_passed_over: true });
                row.pass_over(since, now);
                is_late = true;
            }
        }
        if !is_late {
            return;
        }
        let live: Vec<u64> = live.collect();
        let has_sender =
            live.iter().any(|node| self.rows.get(node).is_some_and(|row| row.has_sent && row.passed.is_none()));
        for node in live.into_iter().filter(|_| has_sender) {
            let Some(row) = self.row(node) else { return };
            if !row.has_sent && row.passed.is_none() {
                row.pass_over(now, now);
            }
        }
    }

    /// Patience with a worker of whom nothing is known.
    fn usual(&self) -> Duration {
        let mut waits: Vec<_> = self.waits.iter().copied().collect();
        let middle = waits.len() / 2;
        if waits.is_empty() {
            return USUAL;
        }
        (*waits.select_nth_unstable(middle).1 * TIMES).clamp(LEAST, MOST_PATIENCE)
    }

    /// `None` where there are too many.
    fn row(&mut self, node: u64) -> Option<&mut DebtRow> {
        if self.rows.len() >= MOST && !self.rows.contains_key(&node) {
            self.rows.retain(|_, row| row.owes.is_some() || row.passed.is_some());
            if self.rows.len() >= MOST {
                return None;
            }
        }
        Some(self.rows.entry(node).or_default())
    }

    /// A worker that lives sent a tile: what else it owes, it owes from now on.
    pub fn sent(&mut self, node: u64, now: Instant) {
        let Some(row) = self.row(node) else { return };
        row.has_sent = true;
        let passed = row.passed.take().map(|(since, _)| since);
        if let Some(since) = row.owes.replace(now).or(passed) {
            row.longest = row.longest.max(now.duration_since(since));
        }
        if passed.is_some() {
            // It was slow, and not away.
            row.until = None;
            row.learn();
        }
    }

    /// A frame begins: what was seen in the last one counts.
    pub fn begin(&mut self) {
        for row in self.rows.values_mut().filter(|row| row.longest > Duration::ZERO) {
            self.waits.push_back(row.longest);
            row.learn();
            row.longest = Duration::ZERO;
        }
        self.waits.drain(..self.waits.len().saturating_sub(KEPT));
    }

    /// Nothing is missing any more.
    pub fn clear(&mut self) {
        self.rows.values_mut().for_each(|row| row.owes = None);
    }

    /// Returns the nodes whose tiles others get.
    pub fn passed_over(&self, now: Instant) -> impl Iterator<Item = u64> {
        let is_passed = move |row: &DebtRow| row.passed.is_some_and(|(_, until)| now < until);
        self.rows.iter().filter(move |(_, row)| is_passed(row)).map(|(&node, _)| node)
    }

    /// Returns who owes tiles, and for how long.
    pub fn owed(&self, now: Instant) -> impl Iterator<Item = TileDebt> {
        self.rows.iter().filter_map(move |(&node, row)| {
            let passed = row.passed.filter(|(_, until)| now < *until).map(|(since, _)| since);
            let since = passed.or(row.owes)?;
            Some(TileDebt { node, waited: now.duration_since(since), is_passed_over: passed.is_some() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TICK: Duration = Duration::from_millis(250);
    const NEVER: Duration = Duration::from_secs(3600);

    #[test]
    fn one_that_sends_nothing_is_passed_over_longer_each_time_until_it_sends() {
        let (mut owing, start) = (TileDebts::default(), Instant::now());
        let owners = BTreeSet::from([7, 8]);
        let passed = |owing: &TileDebts, at| owing.passed_over(at).collect::<Vec<_>>();
        let mut seconds_passed = 0;
        for half in 0..240u32 {
            let at = start + SECOND / 2 * half;
            let left = owners.iter().copied().filter(|node| !passed(&owing, at).contains(node)).collect();
            owing.look(&left, owners.iter().copied(), NEVER, at);
            owing.sent(8, at);
            assert!(!passed(&owing, at).contains(&8), "who sends is not passed over");
            seconds_passed += passed(&owing, at).len();
        }
        // In two minutes, it held others up five times for two seconds.
        assert!((200..236).contains(&seconds_passed), "{seconds_passed} half seconds");
        owing.sent(7, start + 130 * SECOND);
        assert!(passed(&owing, start + 130 * SECOND).is_empty());
    }

    #[test]
    fn one_that_cannot_compute_one_tile_holds_up_fewer_and_fewer_frames() {
        let (mut owing, start) = (TileDebts::default(), Instant::now());
        let owners = BTreeSet::from([7, 8]);
        let (mut now, mut held_up) = (start, 0);
        while now < start + 240 * SECOND {
            owing.begin();
            let is_tried = !owing.passed_over(now).any(|node| node == 7);
            owing.look(
                &owners.iter().copied().filter(|&node| node == 8 || is_tried).collect(),
                [7, 8].into_iter(),
                NEVER,
                now,
            );
            now += TICK / 10;
            owing.sent(8, now);
            if is_tried {
                owing.sent(7, now);
                while !owing.passed_over(now).any(|node| node == 7) {
                    now += TICK;
                    owing.look(&BTreeSet::from([7]), [7, 8].into_iter(), NEVER, now);
                }
                held_up += 1;
            }
            owing.clear();
        }
        assert!((6..=8).contains(&held_up), "{held_up} frames in four minutes");
    }

    #[test]
    fn a_thousand_invented_workers_hold_up_one_frame() {
        let (mut owing, start) = (TileDebts::default(), Instant::now());
        owing.sent(7, start);
        let late = start + USUAL;
        for now in [start, late] {
            owing.look(&BTreeSet::from([1000, 1001]), (7..8).chain(1000..2000), NEVER, now);
        }
        assert!(owing.passed_over(late).eq(1000..2000));
    }

    #[test]
    fn one_that_is_slow_is_given_the_time_that_it_takes() {
        let (mut owing, start) = (TileDebts::default(), Instant::now());
        let one = BTreeSet::from([7]);
        owing.look(&one, [7].into_iter(), NEVER, start);
        owing.look(&one, [7].into_iter(), NEVER, start + 3 * SECOND);
        assert_eq!(owing.passed_over(start + 3 * SECOND).count(), 1);
        owing.sent(7, start + 5 * SECOND);
        owing.look(&one, [7].into_iter(), NEVER, start + 6 * SECOND);
        owing.look(&one, [7].into_iter(), NEVER, start + 13 * SECOND);
        assert_eq!(owing.passed_over(start + 13 * SECOND).count(), 0);
        // Between frames no worker owes a tile.
        owing.clear();
        owing.look(&one, [7].into_iter(), NEVER, start + 60 * SECOND);
        assert_eq!(owing.passed_over(start + 60 * SECOND).count(), 0);
    }

    /// Frames of workers that take 2 ms for a tile, except for one that hangs from a frame on.
    #[test]
    fn one_that_hangs_holds_fast_frames_up_for_a_quarter_of_a_second() {
        let (mut owing, mut now) = (TileDebts::default(), Instant::now());
        let owners = BTreeSet::from([7, 8]);
        for _ in 0..10 {
            owing.begin();
            owing.look(&owners, owners.iter().copied(), NEVER, now);
            for _ in 0..15 {
                now += Duration::from_millis(2);
                owners.iter().for_each(|&node| owing.sent(node, now));
            }
            owing.clear();
        }
        owing.begin();
        let since = now;
        owing.look(&owners, owners.iter().copied(), NEVER, now);
        owing.sent(7, now);
        let left = BTreeSet::from([8]);
        while owing.passed_over(now).next().is_none() {
            now += TICK;
            owing.look(&left, owners.iter().copied(), NEVER, now);
        }
        assert_eq!(now - since, TICK);
        let words: Vec<String> = owing.owed(now + TICK).map(|owed| owed.to_string()).collect();
        assert_eq!(words, ["worker 0000000000000008 has owed tiles for 0.5 s, others get them"]);
    }

    /// A worker that was held up for long once is not waited for as long ever after.
    #[test]
    fn a_hang_is_forgotten() {
        let (mut owing, mut now) = (TileDebts::default(), Instant::now());
        let one = BTreeSet::from([7]);
        let mut waits = Vec::new();
        for hang in [10 * SECOND, 10 * SECOND] {
            owing.look(&one, one.iter().copied(), NEVER, now);
            let since = now;
            while owing.passed_over(now).next().is_none() {
                now += TICK;
                owing.look(&one, one.iter().copied(), NEVER, now);
            }
            waits.push(now - since);
            now = since + hang;
            for _ in 0..70 {
                owing.begin();
                owing.look(&one, one.iter().copied(), NEVER, now);
                now += Duration::from_millis(5);
                owing.sent(7, now);
                owing.clear();
            }
        }
        assert_eq!(waits, [USUAL, TICK]);
    }

    #[test]
    fn the_deadline_bounds_the_patience_with_strangers_only() {
        let (mut owing, start) = (TileDebts::default(), Instant::now());
        let one = BTreeSet::from([7]);
        let look = |owing: &mut TileDebts, at| owing.look(&one, [7].into_iter(), SECOND, at);
        look(&mut owing, start);
        look(&mut owing, start + SECOND);
        assert!(owing.passed_over(start + SECOND).eq([7]));
        owing.sent(7, start + 2 * SECOND);
        look(&mut owing, start + 4 * SECOND);
        assert_eq!(owing.passed_over(start + 4 * SECOND).count(), 0);
    }
}
