//! Clock of the measurements, and warm-up times: one-time work of drivers (shaders, pages, allocations) is over when
//! frames get no faster.

use crate::describe::error::Result;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Clock for measurements of the selection: the system's monotonic clock, or a function of the program, with which
/// tests control all durations.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> Duration + Send + Sync>>);

impl Clock {
    /// Creates a clock that returns `now()`: the time since any fixed moment. It must not go back.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(now)))
    }

    /// Returns the time since a fixed moment.
    pub fn now(&self) -> Duration {
        self.0.as_ref().map_or_else(|| BEGINNING.elapsed(), |now| now())
    }

    /// True where a program has not given its own function.
    pub(crate) const fn is_of_the_system(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the time since `then`.
    pub fn since(&self, then: Duration) -> Duration {
        self.now().saturating_sub(then)
    }

    /// True where something that takes `takes` ends before `end`.
    pub(crate) fn fits(&self, takes: Duration, end: Option<Duration>) -> bool {
        end.is_none_or(|end| self.now().saturating_add(takes) <= end)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock(the program's own)" } else { "Clock(the system's)" })
    }
}

/// Converts microseconds to a duration.
pub(crate) fn micros(us: f64) -> Duration {
    Duration::from_nanos((us * 1e3) as u64)
}

/// Times of a candidate that is judged by the shortest of a few. The first is ignored because drivers compile at first
/// use.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShortestTime {
    told: usize,
    time: Option<Duration>,
}

impl ShortestTime {
    /// Number of times that are measured.
    pub const TIMED: usize = 4;

    /// Records a time.
    pub fn note(&mut self, took: Duration) {
        if self.told > 0 {
            self.time = Some(self.time.map_or(took, |time| time.min(took)));
        }
        self.told += 1;
    }

    /// Returns the shortest time once there are enough.
    pub fn result(self) -> Option<Duration> {
        self.time.filter(|_| self.told >= Self::TIMED)
    }

    /// Measures the missing times at once.
    pub fn rest(mut self, mut time: impl FnMut() -> Result<Duration>) -> Result<Duration> {
        loop {
            self.note(time()?);
            if let Some(shortest) = self.result() {
                return Ok(shortest);
            }
        }
    }
}

/// A frame that takes less than this share of the shortest so far shows that frames are still getting faster.
const FALLS: f64 = 0.9;
/// The warm-up is over after this many frames in a row without a faster one.
const STEADY: u32 = 2;
/// Most warm-up frames; a candidate that keeps getting faster is then timed as it is.
const MOST: u32 = 16;

/// Detects when frames no longer get faster.
pub(super) struct SteadyDetector {
    /// Minimum number of frames: one for each slot.
    fewest: u32,
    frames: u32,
    least: Duration,
    steady: u32,
}

impl SteadyDetector {
    pub fn new(slots: usize) -> Self {
        Self { fewest: slots as u32, frames: 0, least: Duration::MAX, steady: 0 }
    }

    /// Records the time of a frame.
    pub fn note(&mut self, took: Duration) {
        let falls = took.as_secs_f64() < self.least.as_secs_f64() * FALLS;
        self.steady = if falls { 0 } else { self.steady + 1 };
        self.least = self.least.min(took);
        self.frames += 1;
    }

    /// Number of frames that most candidates need.
    pub fn usual(slots: usize) -> u32 {
        (slots as u32).max(STEADY) + 1
    }

    /// True where frames no longer get faster.
    pub fn is_over(&self) -> bool {
        self.frames >= self.fewest && (self.steady >= STEADY || self.frames >= MOST)
    }

    /// True where another frame should be made that ends before `until`; one for each slot is made in any case.
    pub fn goes_on(&self, now: Duration, until: Option<Duration>) -> bool {
        let fits = || until.is_none_or(|until| now.saturating_add(self.least) <= until);
        !self.is_over() && (self.frames < self.fewest || fits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(slots: usize, times: impl IntoIterator<Item = u64>) -> usize {
        let mut settling = SteadyDetector::new(slots);
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
        assert_eq!((settled(3, &[90]), SteadyDetector::usual(3)), (4, 4));
        assert_eq!(settled(3, &[90, 80, 70, 60, 50, 40, 30, 20]), 11);
        // One slow frame among others is no reason to go on, nor is noise.
        assert_eq!(settled(3, &[10, 11, 30, 10]), 3);
        let halves = (0..50).map(|n| 1 << (50 - n));
        assert_eq!(frames(3, halves), MOST as usize);
    }

    #[test]
    fn without_time_only_each_slot_has_its_frame() {
        let mut settling = SteadyDetector::new(2);
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
