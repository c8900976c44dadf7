//! An event in a stream that the host, or another stream, can wait for.

use super::api::call;
use super::{Failure, Queue};
use cudarc::driver::sys as cu;
use std::ptr;
use std::sync::Arc;

/// `CU_EVENT_BLOCKING_SYNC`: a waiting thread sleeps.
const BLOCKING_SYNC: u32 = 1;
/// `CU_EVENT_DISABLE_TIMING`: events without times are cheaper.
const DISABLE_TIMING: u32 = 2;

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: u32 = 600;

/// One event; recording it again moves it.
pub struct Event {
    raw: cu::CUevent,
    queue: Arc<Queue>,
}

// SAFETY: events may be used from any thread on which their context is current; the handle is only a name.
unsafe impl Send for Event {}
// SAFETY: as above; nothing here is changed after it was made.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event for short or rare waits, without times.
    pub fn new(queue: &Arc<Queue>) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        Self::with_flags(queue, DISABLE_TIMING)
    }

    /// Creates an event for a thread that only waits. Held-back work stays held back.
    pub fn waited_for(queue: &Arc<Queue>, timing: bool) -> Result<Self, Failure> {
        let _current = queue.enter_held()?;
        Self::with_flags(queue, if timing { BLOCKING_SYNC } else { BLOCKING_SYNC | DISABLE_TIMING })
    }

    /// Creates an event that records the time. Held-back work stays held back.
    pub fn timed(queue: &Arc<Queue>) -> Result<Self, Failure> {
        let _current = queue.enter_held()?;
        Self::with_flags(queue, 0)
    }

    /// Creates an event; the context must be current.
    fn with_flags(queue: &Arc<Queue>, flags: u32) -> Result<Self, Failure> {
        let mut raw = ptr::null_mut();
        // SAFETY: writes the handle to the given location; the context is current.
        unsafe { call!(queue.api().driver, cuEventCreate(&raw mut raw, flags)) }?;
        Ok(Self { raw, queue: queue.clone() })
    }

    pub fn raw(&self) -> cu::CUevent {
        self.raw
    }

    /// Returns the nanoseconds from `earlier` to this event. Both must be timed, passed and of one context; 0 if
    /// `earlier` is not earlier.
    pub fn ns_since(&self, earlier: &Self) -> Result<u64, Failure> {
        let _current = self.queue.enter_held()?;
        let mut milliseconds = 0.0;
        // SAFETY: writes one number; both events are live and of the current context.
        unsafe { call!(self.queue.api().driver, cuEventElapsedTime(&raw mut milliseconds, earlier.raw, self.raw)) }?;
        Ok((f64::from(milliseconds) * 1e6) as u64)
    }

    /// Records the event after all work queued so far in the queue's own stream.
    pub fn record(&self) -> Result<(), Failure> {
        let _current = self.queue.enter_held()?;
        // SAFETY: event and stream are live and of the current context.
        unsafe { call!(self.queue.api().driver, cuEventRecord(self.raw, self.queue.raw())) }
    }

    /// Tells whether the work before the event is done.
    pub fn is_done(&self) -> Result<bool, Failure> {
        let _current = self.queue.enter_held()?;
        // SAFETY: the event is live and of the current context.
        match unsafe { call!(self.queue.api().driver, cuEventQuery(self.raw)) } {
            Err(Failure { code: NOT_READY, .. }) => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Waits for the work before the event. Returns the error of failed work.
    pub fn synchronize(&self) -> Result<(), Failure> {
        let _current = self.queue.enter()?;
        // SAFETY: the event is live and of the current context.
        unsafe { call!(self.queue.api().driver, cuEventSynchronize(self.raw)) }
    }
}

impl Queue {
    /// Makes work that is queued from now on wait for an event in another stream.
    pub fn wait(&self, event: &Event) -> Result<(), Failure> {
        let _current = self.enter()?;
        // SAFETY: stream and event are live and of the current context.
        unsafe { call!(self.api().driver, cuStreamWaitEvent(self.raw(), event.raw(), 0)) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Without the context the event cannot be destroyed; the primary context destroys its events.
        let Ok(_current) = self.queue.enter_held() else { return };
        // SAFETY: created once, destroyed once; the driver frees it after the event has been passed.
        Failure::log(unsafe { call!(self.queue.api().driver, cuEventDestroy_v2(self.raw)) });
    }
}
