//! Additional streams in the context.

use super::api::call;
use super::context::NON_BLOCKING;
use super::event::Event;
use super::{Failure, Queue};
use cudarc::driver::sys as cu;
use std::ptr;
use std::sync::Arc;

/// Position of a stream in the device's range of priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    Least,
    Middle,
    Greatest,
}

/// A stream in addition to the queue's own.
pub struct Stream {
    raw: cu::CUstream,
    queue: Arc<Queue>,
}

// SAFETY: streams may be used from any thread (the driver locks them); the handle is only a name.
unsafe impl Send for Stream {}
// SAFETY: as above; nothing here is changed after it was made.
unsafe impl Sync for Stream {}

impl Stream {
    pub fn new(queue: &Arc<Queue>, urgency: Urgency) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let driver = &queue.api().driver;
        let (mut least, mut greatest, mut raw) = (0, 0, ptr::null_mut());
        // SAFETY: writes two numbers; the context is current.
        unsafe { call!(driver, cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)) }?;
        let priority = match urgency {
            Urgency::Least => least,
            Urgency::Middle => least.midpoint(greatest),
            Urgency::Greatest => greatest,
        };
        // SAFETY: writes the handle to the given location; the context is current.
        unsafe { call!(driver, cuStreamCreateWithPriority(&raw mut raw, NON_BLOCKING, priority)) }?;
        Ok(Self { raw, queue: queue.clone() })
    }

    pub fn raw(&self) -> cu::CUstream {
        self.raw
    }

    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// Makes work that is queued from now on wait for an event in another stream.
    pub fn wait(&self, event: &Event) -> Result<(), Failure> {
        let _current = self.queue.enter_held()?;
        // SAFETY: stream and event are live and of the current context.
        unsafe { call!(self.queue.api().driver, cuStreamWaitEvent(self.raw, event.raw(), 0)) }
    }

    /// Records an event after all work queued so far.
    pub fn mark(&self, event: &Event) -> Result<(), Failure> {
        let _current = self.queue.enter_held()?;
        // SAFETY: as in `wait`.
        unsafe { call!(self.queue.api().driver, cuEventRecord(event.raw(), self.raw)) }
    }

    /// Waits until all work queued so far is done. Returns the error of failed work.
    pub fn synchronize(&self) -> Result<(), Failure> {
        let _current = self.queue.enter_held()?;
        // SAFETY: the stream is live and of the current context.
        unsafe { call!(self.queue.api().driver, cuStreamSynchronize(self.raw)) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Ok(_current) = self.queue.enter_held() else { return };
        // SAFETY: made once, destroyed once; the driver finishes what is queued before it lets the stream go.
        Failure::log(unsafe { call!(self.queue.api().driver, cuStreamDestroy_v2(self.raw)) });
    }
}
