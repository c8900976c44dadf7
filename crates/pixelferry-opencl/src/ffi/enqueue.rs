//! Queueing of a command.

use super::event::with_list;
use super::profile::queued;
use super::track::{Entering, Use};
use super::{Event, Failure, Queue, Status, check};
use cl3::command_queue as q;
use cl3::error_codes::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use std::ffi::c_void;

impl Queue {
    /// Waits until the queue is empty.
    pub fn finish(&self) -> Result<(), Failure> {
        // rusticl's clFinish (seen with Mesa 22.3) does not wait for commands that were flushed before; a marker's event
        // it does wait for.
        let marked = self.marker(&[])?.wait();
        check("clFinish", q::finish(self.raw()))?;
        marked
    }

    /// An event for the end of `wait`, or of all commands before where that is empty.
    pub fn marker(&self, wait: &[Event]) -> Result<Event, Failure> {
        // SAFETY: what `enqueue` passes is live.
        self.enqueue("clEnqueueMarkerWithWaitList", wait, |queue, n, list| unsafe {
            q::enqueue_marker_with_wait_list(queue, n, list)
        })
    }

    /// An event for the end of `wait`, or of all commands before where that is empty. Commands after it wait for it.
    pub fn barrier(&self, wait: &[Event]) -> Result<Event, Failure> {
        // SAFETY: what `enqueue` passes is live.
        self.enqueue("clEnqueueBarrierWithWaitList", wait, |queue, n, list| unsafe {
            q::enqueue_barrier_with_wait_list(queue, n, list)
        })
    }

    /// Lets `call` enqueue one command: it gets the queue, the number of events and their list, and must return what
    /// the `clEnqueue` call returned.
    pub(super) fn enqueue(
        &self,
        operation: &'static str,
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event, Failure> {
        // Now and not by its event: PoCL 3.1 never ends a command that was given an event which had failed before.
        if wait.iter().any(|event| matches!(event.status(), Ok(Status::Failed(_)))) {
            return Err(Failure { operation, code: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST });
        }
        // Commands that wait for another queue would wait for ever if that queue was not flushed (OpenCL 3.0 API,
        // 5.15).
        for event in wait {
            if event.queue().is_some_and(|queue| !queue.is(self)) {
                event.flush()?;
            }
        }
        let event = with_list(wait, |n, list| call(self.raw(), n, list));
        // SAFETY: an event that was just created, whose one reference is ours.
        let event = unsafe { Event::own(operation, event, Some(self)) }?;
        if self.is_pocl() {
            self.context().may_fail().queued(&event);
        }
        queued(operation, &event);
        Ok(event)
    }

    /// Lets `call` enqueue one command that uses memory.
    pub(super) fn enqueue_using(
        &self,
        operation: &'static str,
        uses: &[Use<'_>],
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event, Failure> {
        self.enter(operation, Entering::shared(operation, uses)?, wait, call)
    }

    /// Lets `call` enqueue one command that begins, or else ends, OpenCL's turn with memory.
    pub(super) fn enqueue_turn(
        &self,
        operation: &'static str,
        (uses, begins): (&[Use<'_>], bool),
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event, Failure> {
        self.enter(operation, Entering::turn(operation, uses, begins)?, wait, call)
    }

    fn enter(
        &self,
        operation: &'static str,
        entering: Entering<'_>,
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event, Failure> {
        let after_none = entering.after.is_empty();
        let event = if after_none {
            self.enqueue(operation, wait, call)
        } else {
            self.enqueue(operation, &[wait, &entering.after].concat(), call)
        }?;
        // In order, and waiting for nothing that could fail before, its end is the end of all before it.
        let last = wait.is_empty() && after_none && !self.properties().out_of_order;
        entering.entered(&event, last);
        Ok(event)
    }
}
