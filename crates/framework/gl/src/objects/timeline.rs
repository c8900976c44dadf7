//! Timeline of the device's work for this display: timestamps around uploads and draws.

use crate::api::host_state::QUERIES;
use crate::api::timer::TimerFns;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::objects::neutral_state::NeutralState;
use glow::HasContext as _;
use interop_core::describe::PlainMutex;
use interop_core::devices::timeline::{Backlog, Work};
use interop_core::{DeviceClock, DeviceSpan, Result, Support};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A timestamp further than this from the expected clock belongs to another clock.
const FAR: Duration = Duration::from_millis(100);

/// The timeline is off until it is switched on; then each use records two timestamps.
#[derive(Default)]
pub(crate) struct Timeline {
    backlog: Backlog<TimedWork>,
    /// Queries whose times were read, for reuse.
    free: PlainMutex<Vec<Pair>>,
    clock: PlainMutex<Option<DeviceClock>>,
    track: OnceLock<Arc<str>>,
}

struct TimedWork {
    work: Work,
    pair: Pair,
}

/// Two timestamps.
pub(crate) struct Pair {
    pub start: OwnedObject<glow::Query>,
    pub end: OwnedObject<glow::Query>,
}

impl Pair {
    pub(crate) fn new(shared: &Arc<ContextState>) -> Result<Self> {
        let query = || {
            // SAFETY: the context is current.
            let name = unsafe { shared.gl.create_query() };
            name.map(|name| OwnedObject::new(shared, name)).map_err(|e| shared.no_name("glGenQueries", &e))
        };
        Ok(Self { start: query()?, end: query()? })
    }
}

impl Timeline {
    /// Runs `f` and records its GL commands as a piece of work with this name. The context must be current.
    pub(crate) fn timed<R>(&self, shared: &Arc<ContextState>, name: &'static str, f: impl FnOnce() -> R) -> R {
        let (true, Some(timers)) = (self.backlog.is_on(), shared.raw.timers) else { return f() };
        let pair = self.free.lock().pop();
        let Some(pair) = pair.or_else(|| Pair::new(shared).ok()) else { return f() };
        let work = Work::new(name);
        // SAFETY: the context is current and the queries are of it.
        unsafe { timers.mark(pair.start.get()) };
        if shared.device.software {
            // llvmpipe runs commands picture by picture, and records a timestamp when it reaches the picture's last
            // tile: the following work must not belong to the same picture.
            // SAFETY: as above.
            unsafe { shared.gl.flush() };
        }
        let result = f();
        // SAFETY: as above.
        unsafe { timers.mark(pair.end.get()) };
        self.backlog.push(TimedWork { work, pair });
        result
    }

    /// Implements [`interop_core::Display::set_timeline`]. The context must be current.
    pub(crate) fn switch(&self, shared: &Arc<ContextState>, on: bool) -> Result<Support> {
        self.backlog.switch(false);
        self.free.lock().clear();
        if !on {
            return Ok(Support::Yes);
        }
        let Some(timers) = shared.raw.timers else {
            let reason = if shared.features.es {
                "the timestamps of OpenGL ES share a flag with the engine's own, which is cleared when it is read"
            } else {
                "the driver has no glQueryCounter"
            };
            return Ok(Support::No(reason.into()));
        };
        // SAFETY: the context is current.
        let bits = unsafe { timers.bits() };
        if bits == 0 {
            return Ok(Support::No(
                "GL_QUERY_COUNTER_BITS of GL_TIMESTAMP is 0: the driver does not support timestamps".into(),
            ));
        }
        let clock = compare(shared, bits)?;
        let proved = prove(shared, &timers, &clock)?;
        if proved.is_yes() {
            self.clock.set(Some(clock));
            self.track.get_or_init(|| format!("OpenGL: {}", shared.device.name).into());
            self.backlog.switch(true);
        }
        Ok(proved)
    }

    /// Implements [`interop_core::Display::drain_timeline`]. The context must be current.
    pub(crate) fn drain(&self, shared: &ContextState, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let (Some(mut clock), Some(track), Some(timers)) = (self.clock.get(), self.track.get(), shared.raw.timers)
        else {
            return Ok(());
        };
        if self.backlog.is_on() && clock.is_old() {
            clock = compare(shared, clock.bits())?.after(&clock);
            self.clock.set(Some(clock));
        }
        let _calmed = NeutralState::set(shared, QUERIES, shared.is_engine());
        // SAFETY: the context is current; the queries are of it and were marked.
        let is_done = |timed: &TimedWork| unsafe { timers.is_done(timed.pair.end.get()) };
        while let Some(TimedWork { work, pair }) = self.backlog.pop_done(|timed| Ok(is_done(timed)))? {
            // SAFETY: as above.
            let (start, end) = unsafe { (timers.time(pair.start.get()), timers.time(pair.end.get())) };
            if let Some(span) = clock.span(track, work, start, end) {
                into(span);
            }
            self.free.lock().push(pair);
        }
        Ok(())
    }
}

/// `GL_TIMESTAMP` is the device's clock when it has received the earlier commands, whether they are done or not.
fn compare(shared: &ContextState, bits: u32) -> Result<DeviceClock> {
    shared.checked("glGetInteger64v", || {
        // SAFETY: the context is current; the value is one integer.
        DeviceClock::compare(bits, || Ok(unsafe { shared.gl.get_parameter_i64(glow::TIMESTAMP) }.cast_unsigned()))
    })?
}

/// Tells whether timestamps are recorded, and from the clock that can be read: success codes alone are not reliable.
fn prove(shared: &Arc<ContextState>, timers: &TimerFns, clock: &DeviceClock) -> Result<Support> {
    let pair = Pair::new(shared)?;
    let _calmed = NeutralState::set(shared, QUERIES, shared.is_engine());
    let before = Instant::now();
    let (done, time) = shared.checked("glQueryCounter", || {
        // SAFETY: the context is current and the query of it; its time is asked for once it is there.
        unsafe {
            timers.mark(pair.end.get());
            shared.gl.finish();
            let done = timers.is_done(pair.end.get());
            (done, if done { timers.time(pair.end.get()) } else { 0 })
        }
    })?;
    if !done {
        return Ok(Support::No("the driver returns no time for a timestamp, even after glFinish".into()));
    }
    let far = FAR + clock.uncertainty_at(time);
    let lies_within = clock.at(time).is_some_and(|at| before <= at + far && at <= Instant::now() + far);
    Ok(Support::when(lies_within, "the driver's timestamps do not match the clock of GL_TIMESTAMP"))
}
