//! Frames before a path is timed: what drivers do only once (shaders, pages, allocations) is over when frames take no less any more.

use std::time::Duration;

/// A frame that takes less than this part of the shortest so far shows that frames are still getting quicker.
const FALLS: f64 = 0.9;
/// Number of frames in a row, none of them quicker, after which the settling is over.
const STEADY: u32 = 2;
/// Frames at most: one that gets quicker for longer is timed as it is.
const MOST: u32 = 16;

/// Detects when frames no longer get quicker.
pub(super) struct Settling {
    /// Frames in any case: one for each slot.
    fewest: u32,
    frames: u32,
    least: Duration,
    steady: u32,
}

impl Settling {
    pub fn new(slots: usize) -> Self {
        Self { fewest: slots as u32, frames: 0, least: Duration::MAX, steady: 0 }
    }

    /// A frame took so long.
    pub fn note(&mut self, took: Duration) {
        let falls = took.as_secs_f64() < self.least.as_secs_f64() * FALLS;
        self.steady = if falls { 0 } else { self.steady + 1 };
        self.least = self.least.min(took);
        self.frames += 1;
    }

    /// Frames no longer get quicker.
    pub fn is_over(&self) -> bool {
        self.frames >= self.fewest && (self.steady >= STEADY || self.frames >= MOST)
    }

    /// True where another frame is made that should end before `until`: those for each slot are in any case.
    pub fn goes_on(&self, now: Duration, until: Option<Duration>) -> bool {
        let fits = || until.is_none_or(|until| now.saturating_add(self.least) <= until);
        !self.is_over() && (self.frames < self.fewest || fits())
    }
}

/// Frames that most paths need.
pub(super) fn usual(slots: usize) -> u32 {
    (slots as u32).max(STEADY) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(slots: usize, times: impl IntoIterator<Item = u64>) -> usize {
        let mut settling = Settling::new(slots);
        let more = |ms: &u64| {
            let more = !settling.is_over();
            settling.note(Duration::from_millis(*ms));
            more
        };
        times.into_iter().take_while(more).count()
    }

    #[test]
    fn it_is_over_when_frames_take_no_less() {
        let settled = |slots, first: &[u64]| frames(slots, first.iter().copied().chain([10; 30]));
        assert_eq!([settled(0, &[]), settled(3, &[]), settled(5, &[])], [3, 3, 5]);
        assert_eq!((settled(3, &[90]), usual(3)), (4, 4));
        assert_eq!(settled(3, &[90, 80, 70, 60, 50, 40, 30, 20]), 11);
        // One slow frame among others is no reason to go on, nor is noise.
        assert_eq!(settled(3, &[10, 11, 30, 10]), 3);
        let halves = (0..50).map(|n| 1 << (50 - n));
        assert_eq!(frames(3, halves), MOST as usize);
    }

    #[test]
    fn without_time_only_each_slot_has_its_frame() {
        let mut settling = Settling::new(2);
        let (now, until) = (Duration::from_secs(1), Some(Duration::ZERO));
        for ms in [9, 3] {
            assert!(settling.goes_on(now, until));
            settling.note(Duration::from_millis(ms));
        }
        assert!(!settling.goes_on(now, until) && !settling.is_over() && settling.goes_on(now, None));
    }
}
