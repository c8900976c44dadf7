//! Workers that live and send nothing: what they owe goes to others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A worker may owe tiles for so long; one that sent some after that, for twice what it took.
const PATIENCE: Duration = Duration::from_secs(2);
const MOST_PATIENCE: Duration = Duration::from_secs(60);
/// Time that one is passed over at first; each time twice as long.
const PAUSE: Duration = Duration::from_secs(2);
const MOST_DOUBLINGS: u32 = 7;
/// More workers than any cluster has are somebody's invention.
const MOST: usize = 4096;

/// Since when each worker owes tiles, and who is passed over for that.
#[derive(Debug, Default)]
pub struct Owing(BTreeMap<u64, Row>);

#[derive(Debug)]
struct Row {
    owes: Option<Instant>,
    patience: Duration,
    /// Since when and until when others get its tiles.
    passed: Option<(Instant, Instant)>,
    /// Number of times.
    times: u32,
    has_sent: bool,
}

impl Row {
    fn pass_over(&mut self, since: Instant, now: Instant) {
        let pause = PAUSE * (1 << self.times.min(MOST_DOUBLINGS));
        (self.passed, self.owes) = (Some((since, now + pause)), None);
        self.times += 1;
    }
}

impl Owing {
    /// Takes who owes tiles now, of those who live; nobody else does. Where one owes for too long, all that never sent a tile are
    /// passed over with it, if somebody did: tokens of invented workers are cheap.
    pub fn look(&mut self, owners: &BTreeSet<u64>, live: impl Iterator<Item = u64>, now: Instant) {
        for (node, row) in &mut self.0 {
            row.passed.take_if(|(_, until)| now >= *until);
            if !owners.contains(node) {
                row.owes = None;
            }
        }
        let mut is_late = false;
        for &node in owners {
            let Some(row) = self.row(node) else { return };
            let since = *row.owes.get_or_insert(now);
            let waited = now.duration_since(since);
            if waited >= row.patience {
                tracing::warn!("worker {node:016x} has owed tiles for {waited:?}; others get them");
                row.pass_over(since, now);
                is_late = true;
            }
        }
        if !is_late {
            return;
        }
        let live: Vec<u64> = live.collect();
        let has_sender =
            live.iter().any(|node| self.0.get(node).is_some_and(|row| row.has_sent && row.passed.is_none()));
        for node in live.into_iter().filter(|_| has_sender) {
            let Some(row) = self.row(node) else { return };
            if !row.has_sent && row.passed.is_none() {
                row.pass_over(now, now);
            }
        }
    }

    /// `None` where there are too many.
    fn row(&mut self, node: u64) -> Option<&mut Row> {
        if self.0.len() >= MOST && !self.0.contains_key(&node) {
            self.0.retain(|_, row| row.owes.is_some() || row.passed.is_some());
            if self.0.len() >= MOST {
                return None;
            }
        }
        let new = Row { owes: None, patience: PATIENCE, passed: None, times: 0, has_sent: false };
        Some(self.0.entry(node).or_insert(new))
    }

    /// A worker that lives sent a tile: it owes none until the next look.
    pub fn sent(&mut self, node: u64, now: Instant) {
        let Some(row) = self.row(node) else { return };
        (row.owes, row.times, row.has_sent) = (None, 0, true);
        if let Some((since, _)) = row.passed.take() {
            row.patience = (now.duration_since(since) * 2).clamp(PATIENCE, MOST_PATIENCE);
        }
    }

    /// Nothing is missing any more.
    pub fn clear(&mut self) {
        self.0.values_mut().for_each(|row| row.owes = None);
    }

    /// Returns the nodes whose tiles others get.
    pub fn passed_over(&self, now: Instant) -> impl Iterator<Item = u64> {
        let is_passed = move |row: &Row| row.passed.is_some_and(|(_, until)| now < until);
        self.0.iter().filter(move |(_, row)| is_passed(row)).map(|(&node, _)| node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_that_sends_nothing_is_passed_over_longer_each_time_until_it_sends() {
        let (mut owing, start) = (Owing::default(), Instant::now());
        let owners = BTreeSet::from([7, 8]);
        let passed = |owing: &Owing, at| owing.passed_over(at).collect::<Vec<_>>();
        let mut seconds_passed = 0;
        for half in 0..240u32 {
            let at = start + SECOND / 2 * half;
            let left = owners.iter().copied().filter(|node| !passed(&owing, at).contains(node)).collect();
            owing.look(&left, owners.iter().copied(), at);
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
    fn a_thousand_invented_workers_hold_up_one_frame() {
        let (mut owing, start) = (Owing::default(), Instant::now());
        owing.sent(7, start);
        let late = start + PATIENCE;
        for now in [start, late] {
            owing.look(&BTreeSet::from([1000, 1001]), (7..8).chain(1000..2000), now);
        }
        assert!(owing.passed_over(late).eq(1000..2000));
    }

    #[test]
    fn one_that_is_slow_is_given_the_time_that_it_takes() {
        let (mut owing, start) = (Owing::default(), Instant::now());
        let one = BTreeSet::from([7]);
        owing.look(&one, [7].into_iter(), start);
        owing.look(&one, [7].into_iter(), start + 3 * SECOND);
        assert_eq!(owing.passed_over(start + 3 * SECOND).count(), 1);
        owing.sent(7, start + 5 * SECOND);
        owing.look(&one, [7].into_iter(), start + 6 * SECOND);
        owing.look(&one, [7].into_iter(), start + 13 * SECOND);
        assert_eq!(owing.passed_over(start + 13 * SECOND).count(), 0);
        // Between frames nobody owes anything.
        owing.clear();
        owing.look(&one, [7].into_iter(), start + 60 * SECOND);
        assert_eq!(owing.passed_over(start + 60 * SECOND).count(), 0);
    }
}
