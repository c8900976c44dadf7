//! Clock of the measurements, and the times that do not count: what drivers do only once (shaders, pages, allocations)
//! is over when frames take no less any more.

use crate::describe::error::Result;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Clock that the choice of paths measures with: the system's monotonic clock, or a function of the program, so that
/// tests decide how long things take.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> Duration + Send + Sync>>);

impl Clock {
    /// A clock that shows what `now` returns: the time since any moment that stays the same. It must not go back.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(now)))
    }

    /// The time since a moment that stays the same.
    pub fn now(&self) -> Duration {
        self.0.as_ref().map_or_else(|| BEGINNING.elapsed(), |now| now())
    }

    /// Tells how long it is since `then`.
    pub fn since(&self, then: Duration) -> Duration {
        self.now().saturating_sub(then)
    }

    /// True where what `takes` so long ends by then.
    pub(crate) fn fits(&self, takes: Duration, end: Option<Duration>) -> bool {
        end.is_none_or(|end| self.now().saturating_add(takes) <= end)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock(the program's own)" } else { "Clock(the system's)" })
    }
}

/// So many microseconds.
pub(crate) fn micros(us: f64) -> Duration {
    Duration::from_nanos((us * 1e3) as u64)
}

/// Times of one that is judged by the shortest of a few. The first does not count: drivers build at the first use.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shortest {
    told: usize,
    time: Option<Duration>,
}

impl Shortest {
    /// Number of times that are taken.
    pub const TIMED: usize = 4;

    /// It took so long.
    pub fn note(&mut self, took: Duration) {
        if self.told > 0 {
            self.time = Some(self.time.map_or(took, |time| time.min(took)));
        }
        self.told += 1;
    }

    /// The result, once there are enough.
    pub fn result(self) -> Option<Duration> {
        self.time.filter(|_| self.told >= Self::TIMED)
    }

    /// Takes the times that are missing at once.
    pub fn rest(mut self, mut time: impl FnMut() -> Result<Duration>) -> Result<Duration> {
        loop {
            self.note(time()?);
            if let Some(shortest) = self.result() {
                return Ok(shortest);
            }
        }
    }
}

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

    /// Frames that most need.
    pub fn usual(slots: usize) -> u32 {
        (slots as u32).max(STEADY) + 1
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
        assert_eq!((settled(3, &[90]), Settling::usual(3)), (4, 4));
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

    #[test]
    fn what_would_take_too_long_is_not_begun() {
        let clock = Clock::new(|| Duration::from_secs(7));
        let fits = |frame| clock.fits(Duration::from_secs(frame) * 30, Some(Duration::from_secs(67)));
        assert!(fits(1) && fits(2) && !fits(3) && clock.fits(Duration::MAX, None));
    }
}
