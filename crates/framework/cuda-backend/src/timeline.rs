//! Timeline of the device's work: events around launches, copies and hand-overs.

use crate::ffi::event::Event;
use crate::ffi::{Failure, Queue};
use interop_core::describe::PlainMutex;
use interop_core::devices::timeline::{Backlog, Work};
use interop_core::{DeviceClock, DeviceIdentity, DeviceSpan, Error, Result, Support};
use std::borrow::Cow;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// Resolution of `cuEventElapsedTime` according to its documentation.
const STEP: Duration = Duration::from_nanos(500);

/// The timeline; off until it is switched on.
#[derive(Default)]
pub struct Timeline {
    backlog: Backlog<WorkTimes>,
    /// Events whose times were read, for reuse.
    free: PlainMutex<Vec<Pair>>,
    known: PlainMutex<Option<DeviceTimes>>,
}

struct WorkTimes {
    work: Work,
    pair: Pair,
    since: Arc<Base>,
}

struct Pair {
    start: Event,
    end: Event,
}

/// The driver reports times as the distance of two events in single precision, so the reference event must be recent.
struct Base {
    event: Event,
    /// Time in nanoseconds, on a scale that all bases of a session share.
    at_ns: u64,
}

#[derive(Clone)]
struct DeviceTimes {
    clock: DeviceClock,
    base: Arc<Base>,
    /// A stream in which nothing ever waits, so that clocks can be compared while the session's stream is busy.
    idle: Arc<Queue>,
    track: Arc<str>,
}

impl Base {
    fn time(&self, event: &Event) -> Result<u64, Failure> {
        Ok(self.at_ns + event.ns_since(&self.event)?)
    }
}

impl Pair {
    fn new(queue: &Arc<Queue>) -> Result<Self, Failure> {
        Ok(Self { start: Event::timed(queue)?, end: Event::timed(queue)? })
    }
}

fn lock<T>(mutex: &PlainMutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl Timeline {
    /// Runs `f`, and records its work in the stream of `queue` as `name` if recording is on. Where no event is
    /// available the work is done, but not recorded.
    pub fn timed<R>(&self, queue: &Arc<Queue>, name: &str, f: impl FnOnce() -> R) -> R {
        if !self.backlog.is_on() {
            return f();
        }
        let Some(since) = lock(&self.known).as_ref().map(|known| known.base.clone()) else { return f() };
        let free = lock(&self.free).pop();
        let work = Work::new(Cow::Owned(name.to_owned()));
        let begun = free.map_or_else(|| Pair::new(queue), Ok).and_then(|pair| pair.start.record().map(|()| pair));
        let result = f();
        match begun.and_then(|pair| pair.end.record().map(|()| pair)) {
            Ok(pair) => self.backlog.push(WorkTimes { work, pair, since }),
            Err(Failure { operation, code }) => tracing::debug!(operation, code, name, "work was not timed"),
        }
        result
    }

    /// Implements [`interop_core::ComputeBackend::set_timeline`].
    pub fn switch(&self, queue: &Queue, identity: &DeviceIdentity, on: bool) -> Result<Support> {
        self.backlog.switch(false);
        lock(&self.free).clear();
        *lock(&self.known) = None;
        if on {
            let failed = |failure: Failure| failure.on(&identity.to_string());
            let idle = Queue::new(queue.api(), queue.device()).map_err(failed)?;
            let (clock, base) = compare(&idle, None, failed)?;
            let track = format!("CUDA: {}, stream", identity.name).into();
            *lock(&self.known) = Some(DeviceTimes { clock, base, idle, track });
            self.backlog.switch(true);
        }
        Ok(Support::Yes)
    }

    /// Implements [`interop_core::ComputeBackend::drain_timeline`].
    pub fn drain(&self, identity: &DeviceIdentity, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let failed = |failure: Failure| failure.on(&identity.to_string());
        let Some(mut known) = lock(&self.known).clone() else { return Ok(()) };
        if known.clock.is_old() {
            let (clock, base) = compare(&known.idle, Some(known.base.as_ref()), failed)?;
            known = DeviceTimes { clock: clock.after(&known.clock), base, ..known };
            *lock(&self.known) = Some(known.clone());
        }
        let is_done = |timed: &WorkTimes| timed.pair.end.is_done().map_err(failed);
        while let Some(WorkTimes { work, pair, since }) = self.backlog.pop_done(is_done)? {
            let times = || Ok((since.time(&pair.start)?, since.time(&pair.end)?));
            let (start, end) = times().map_err(failed)?;
            if let Some(span) = known.clock.span(&known.track, work, start, end) {
                into(span);
            }
            lock(&self.free).push(pair);
        }
        Ok(())
    }
}

/// The event in the idle stream is passed between its recording and the end of the wait for it.
fn compare(
    idle: &Arc<Queue>,
    before: Option<&Base>,
    failed: impl Fn(Failure) -> Error,
) -> Result<(DeviceClock, Arc<Base>)> {
    let event = Event::timed(idle).map_err(&failed)?;
    event.record().and_then(|()| event.synchronize()).map_err(&failed)?;
    let at_ns = before.map_or(Ok(0), |before| before.time(&event)).map_err(&failed)?;
    let base = Arc::new(Base { event, at_ns });
    let moment = Event::timed(idle).map_err(&failed)?;
    let clock = DeviceClock::compare(64, || {
        moment.record().and_then(|()| moment.synchronize()).map_err(&failed)?;
        base.time(&moment).map_err(&failed)
    })?;
    Ok((clock.in_steps(STEP), base))
}
