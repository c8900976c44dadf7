//! Timeline of the devices' work on the host's clock. It is off until [`crate::ComputeBackend::set_timeline`] or
//! [`crate::Display::set_timeline`] switches it on.
//!
//! A [`DeviceClock`] maps a device's own clock to the host's and knows the largest error. Each comparison of the two
//! clocks takes several readings and uses the narrowest.
//!
//! On the host's side, the crate `tracing` provides spans, each of which costs one comparison while there is no
//! subscriber. The target `pixelferry::frame` has a span `frame` for each frame and one for each step inside it (level
//! `TRACE`). The target `pixelferry::select` has one for each path that is opened, verified, timed or left (level
//! `DEBUG`).

use crate::describe::PlainMutex;
use crate::describe::error::Result;
use crate::describe::path_id::PathId;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// The frame that a piece of work belongs to.
///
/// ```
/// use interop_core::{FrameTag, PathId};
///
/// let tag = FrameTag::new(1, 42, PathId::DIRECT, 0);
/// let working = FrameTag::enter(Some(tag));
/// assert_eq!(FrameTag::current(), Some(tag));
/// drop(working);
/// assert_eq!(FrameTag::current(), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameTag {
    /// Number of the link in this process, counted from 1.
    pub link: u32,
    /// Number of the frame in that link, counted from 1. A frame that is repeated on another path keeps its number.
    pub frame: u64,
    /// The path that carries the frame.
    pub path: PathId,
    /// Number of the slot in the path's memory.
    pub slot: usize,
}

thread_local! {
    static CURRENT: Cell<Option<FrameTag>> = const { Cell::new(None) };
}

impl FrameTag {
    /// Describes a frame of a link, on this path, in this slot of the path's memory.
    pub const fn new(link: u32, frame: u64, path: PathId, slot: usize) -> Self {
        Self { link, frame, path, slot }
    }

    /// Returns the frame that this thread works for at the moment, if it works for a link's frame.
    pub fn current() -> Option<Self> {
        CURRENT.get()
    }

    /// Sets the frame that this thread works for until the returned guard is dropped.
    pub fn enter(this: Option<Self>) -> FrameTagGuard {
        FrameTagGuard { before: CURRENT.replace(this), _this_thread: PhantomData }
    }
}

/// Guard of [`FrameTag::enter`]: the thread works for a frame while it lives. Dropping it restores the previous frame.
#[must_use = "the frame is left when this guard is dropped"]
pub struct FrameTagGuard {
    before: Option<FrameTag>,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for FrameTagGuard {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// One piece of work that the host submitted to a device.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Work {
    /// Name of the kernel, or kind of the command.
    pub name: Cow<'static, str>,
    /// The frame that the work is for, if it is a link's.
    pub frame: Option<FrameTag>,
    /// Time at which the host submitted it.
    pub queued: Instant,
    /// The thread that submitted it.
    pub thread: ThreadId,
}

impl Work {
    /// Describes work that this thread submits now for its [current](FrameTag::current) frame.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), frame: FrameTag::current(), queued: Instant::now(), thread: thread::current().id() }
    }
}

/// One piece of work that a device has done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeviceSpan {
    /// Name of the queue that did it; the work of a queue is in order.
    pub track: Arc<str>,
    /// The work that was done, and its frame.
    pub work: Work,
    /// Time at which the device began.
    pub start: Instant,
    /// Time at which the device finished; not before `start`.
    pub end: Instant,
    /// Largest error of both times against the host's clock.
    pub uncertainty: Duration,
}

impl DeviceSpan {
    /// Describes work of `track` between two exact times of the host's clock.
    pub const fn new(track: Arc<str>, work: Work, start: Instant, end: Instant) -> Self {
        Self { track, work, start, end, uncertainty: Duration::ZERO }
    }
}

/// One reading of a device's clock together with the host's.
///
/// ```
/// use interop_core::DeviceClock;
/// use std::time::Instant;
///
/// // A device whose clock began with the program.
/// let begun = Instant::now();
/// let clock = DeviceClock::compare(64, || Ok(begun.elapsed().as_nanos() as u64))?;
/// let second = clock.at(1_000_000_000).zip(clock.at(0)).map(|(later, earlier)| later - earlier);
/// assert_eq!(second.map(|time| time.as_millis()), Some(1000));
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct DeviceClock {
    host: Instant,
    device_ns: u64,
    bits: u32,
    uncertainty: Duration,
}

/// Readings for one comparison; the reading in the shortest interval is used.
const READINGS: usize = 8;
/// Clocks drift: after this time they are compared again.
const COMPARED_FOR: Duration = Duration::from_millis(250);
/// Two crystals, each off by 50 parts per million, drift apart by one part in this many.
const DRIFT: u32 = 10_000;

impl DeviceClock {
    /// Compares the clocks. `read` returns the device's time, in nanoseconds, at some moment between its call and its
    /// return. The device's clock has `bits` bits, at most 64, and wraps to 0.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn compare(bits: u32, mut read: impl FnMut() -> Result<u64>) -> Result<Self> {
        let mut once = || -> Result<Self> {
            let before = Instant::now();
            let device_ns = read()?;
            let half = before.elapsed() / 2;
            Ok(Self { host: before + half, device_ns, bits, uncertainty: half })
        };
        let first = once()?;
        (1..READINGS).try_fold(first, |best, _| Ok(best.or_nearer(once()?)))
    }

    /// Adds the resolution of the device's clock to the uncertainty.
    #[must_use]
    pub fn in_steps(self, step: Duration) -> Self {
        Self { uncertainty: self.uncertainty + step, ..self }
    }

    /// Returns the comparison with the smaller uncertainty; of two equal ones, the older.
    fn or_nearer(self, other: Self) -> Self {
        if other.uncertainty < self.uncertainty { other } else { self }
    }

    /// True where the comparison is so old that it should be repeated.
    pub fn is_old(&self) -> bool {
        self.host.elapsed() > COMPARED_FOR
    }

    /// Returns the newer of two comparisons. Their disagreement, which is the drift between them, is added to its
    /// uncertainty.
    #[must_use]
    pub fn after(self, older: &Self) -> Self {
        let expected = older.at(self.device_ns).unwrap_or(self.host);
        let drift = expected.max(self.host) - expected.min(self.host);
        Self { uncertainty: self.uncertainty + drift, ..self }
    }

    /// Converts a moment of the device's clock to the host's; `None` where the host's clock cannot represent it.
    pub fn at(&self, device_ns: u64) -> Option<Instant> {
        let distance = self.distance(device_ns);
        let apart = Duration::from_nanos(distance.unsigned_abs());
        if distance < 0 { self.host.checked_sub(apart) } else { self.host.checked_add(apart) }
    }

    /// Nanoseconds from the comparison to a moment, by the nearer of the two directions around the wrap.
    fn distance(&self, device_ns: u64) -> i64 {
        let unused = 64 - self.bits.clamp(1, 64);
        (device_ns.wrapping_sub(self.device_ns) << unused).cast_signed() >> unused
    }

    /// Number of bits after which the device's clock wraps to 0.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Describes work that the device did from `start_ns` to `end_ns` of its own clock; `None` where these times are
    /// invalid.
    pub fn span(&self, track: &Arc<str>, work: Work, start_ns: u64, end_ns: u64) -> Option<DeviceSpan> {
        let (start, end) = (self.at(start_ns)?, self.at(end_ns)?);
        let uncertainty = self.uncertainty_at(start_ns).max(self.uncertainty_at(end_ns));
        (start <= end).then(|| DeviceSpan { track: track.clone(), work, start, end, uncertainty })
    }

    /// Returns the largest error of [`DeviceClock::at`] at that moment; it grows with the distance from the comparison.
    pub fn uncertainty_at(&self, device_ns: u64) -> Duration {
        self.uncertainty + Duration::from_nanos(self.distance(device_ns).unsigned_abs()) / DRIFT
    }
}

/// Work whose times are unknown or were not requested yet, oldest first; for backends and displays.
///
/// Without requests, the oldest work is dropped; there is room for about a minute of frames.
pub struct Backlog<T> {
    on: AtomicBool,
    list: PlainMutex<VecDeque<T>>,
    lost: AtomicU64,
}

/// Capacity of a backlog, in pieces of work.
const BACKLOG: usize = 16_384;

impl<T> Default for Backlog<T> {
    fn default() -> Self {
        Self { on: AtomicBool::new(false), list: PlainMutex::new(VecDeque::new()), lost: AtomicU64::new(0) }
    }
}

impl<T> Backlog<T> {
    /// True where work is recorded.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Switches recording on or off. Switching it off drops the recorded work.
    pub fn switch(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
        if !on {
            // Dropped outside of the lock, because that may call a driver.
            drop(std::mem::take(&mut *self.list.lock()));
        }
    }

    /// Adds a piece of work.
    pub fn push(&self, work: T) {
        let mut list = self.list.lock();
        let forgotten = if list.len() >= BACKLOG { list.pop_front() } else { None };
        list.push_back(work);
        drop(list);
        if forgotten.is_some() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes and returns the oldest piece of work, if it is done.
    ///
    /// # Errors
    /// Those of `is_done`; the piece of work that it failed for is dropped.
    pub fn pop_done(&self, is_done: impl FnOnce(&T) -> Result<bool>) -> Result<Option<T>> {
        let mut list = self.list.lock();
        let done = list.front().map(is_done);
        let popped = if matches!(done, None | Some(Ok(false))) { None } else { list.pop_front() };
        drop(list);
        if let Some(lost) = Some(self.lost.swap(0, Ordering::Relaxed)).filter(|lost| *lost > 0) {
            tracing::warn!(lost, "a device did more work than its timeline holds; the oldest was dropped");
        }
        done.transpose().map(|_| popped)
    }
}

/// Traces a step of a frame until the end of the scope.
macro_rules! step {
    ($name:literal $($fields:tt)*) => {
        tracing::trace_span!(target: "pixelferry::frame", $name $($fields)*).entered()
    };
}
pub(crate) use step;

/// Traces a step of opening or leaving a path until the end of the scope.
macro_rules! stage {
    ($name:literal $($fields:tt)*) => {
        tracing::debug_span!(target: "pixelferry::select", $name $($fields)*).entered()
    };
}
pub(crate) use stage;

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: FrameTag = FrameTag { link: 1, frame: 7, path: PathId::DIRECT, slot: 1 };

    #[test]
    fn tags_nest_and_stay_on_their_thread() {
        assert_eq!(FrameTag::current(), None);
        let outer = FrameTag::enter(Some(TAG));
        {
            let _inner = FrameTag::enter(Some(FrameTag { frame: 6, ..TAG }));
            assert_eq!(Work::new("draw").frame.map(|tag| tag.frame), Some(6));
            assert!(thread::spawn(|| FrameTag::current().is_none()).join().unwrap());
        }
        assert_eq!(FrameTag::current(), Some(TAG));
        drop(outer);
        assert_eq!(FrameTag::current(), None);
    }

    #[test]
    fn of_two_looks_at_a_clock_the_quicker_counts() {
        let host = Instant::now();
        let look = |device_ns, us| DeviceClock { host, device_ns, bits: 64, uncertainty: Duration::from_micros(us) };
        for (first, second, best) in [(5, 9, 1), (9, 5, 2), (5, 5, 1)] {
            assert_eq!(look(1, first).or_nearer(look(2, second)).device_ns, best);
        }
    }

    #[test]
    fn a_devices_moments_lie_within_the_uncertainty() {
        let zero = Instant::now();
        // A device that began to count an hour before.
        let offset = 3_600_000_000_000;
        let device = || offset + zero.elapsed().as_nanos() as u64;
        let mut calls = 0;
        let read = || {
            calls += 1;
            Ok(device())
        };
        let clock = DeviceClock::compare(64, read).unwrap();
        assert_eq!(calls, READINGS);
        assert!(clock.uncertainty < zero.elapsed(), "{:?}", clock.uncertainty);
        let (before, moment, after) = (Instant::now(), device(), Instant::now());
        let found = clock.at(moment).unwrap();
        let off = clock.uncertainty_at(moment);
        assert!(before <= found + off && found <= after + off);
        let track = "a device".into();
        let span = clock.span(&track, Work::new("copy"), moment, moment + 1000).unwrap();
        assert_eq!(span.end - span.start, Duration::from_micros(1));
        assert!(clock.span(&track, Work::new("copy"), moment + 1, moment).is_none(), "it ends before it starts");
        assert!(clock.at(0).is_none_or(|at| at < zero));
    }

    #[test]
    fn drift_adds_to_the_uncertainty() {
        let now = Instant::now();
        let (second, half) = (Duration::from_secs(1), Duration::from_micros(2));
        let older = DeviceClock { host: now, device_ns: 0, bits: 64, uncertainty: half };
        // The device counted 30 microseconds more than the host in a second.
        let newer = DeviceClock { host: now + second, device_ns: 1_000_030_000, ..older };
        let after = newer.after(&older);
        assert_eq!(after.uncertainty_at(1_000_030_000), Duration::from_micros(32));
        // Two milliseconds later, and as long before.
        assert_eq!(after.uncertainty_at(1_002_030_000), Duration::from_nanos(32_200));
        assert_eq!(after.uncertainty_at(998_030_000), Duration::from_nanos(32_200));
        assert_eq!(newer.after(&older).at(1_000_030_000), Some(now + second));
    }

    #[test]
    fn a_clock_that_starts_again_goes_on() {
        let (host, uncertainty) = (Instant::now(), Duration::ZERO);
        let clock = DeviceClock { host, device_ns: (1 << 36) - 500, bits: 36, uncertainty };
        assert_eq!(clock.at(500), Some(host + Duration::from_micros(1)));
        assert_eq!(clock.at((1 << 36) - 1500), host.checked_sub(Duration::from_micros(1)));
    }

    #[test]
    fn a_backlog_gives_what_is_done_in_order_and_forgets_the_oldest() {
        let backlog = Backlog::default();
        backlog.switch(true);
        (0..BACKLOG + 3).for_each(|n| backlog.push(n));
        let next = || backlog.pop_done(|n| Ok(*n < 5)).unwrap();
        assert_eq!((next(), next(), next()), (Some(3), Some(4), None));
        assert!(backlog.pop_done(|_| Err(crate::Error::NothingShown)).is_err());
        assert_eq!(backlog.pop_done(|n| Ok(*n == 6)).unwrap(), Some(6));
        backlog.switch(false);
        assert!(!backlog.is_on());
        assert_eq!(backlog.pop_done(|_| Ok(true)).unwrap(), None);
    }

    #[test]
    fn a_clock_that_cannot_be_read_is_the_callers_to_hear_of() {
        let refused = || Err(crate::Error::invalid("read", "no clock"));
        assert!(DeviceClock::compare(64, refused).is_err());
    }
}
