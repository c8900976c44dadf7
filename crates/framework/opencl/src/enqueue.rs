//! Enqueueing of commands.

use crate::collect::queued;
use crate::event::with_list;
use crate::ffi::track::{CommandEntry, MemoryUse};
use crate::ffi::{Failure, check};
use crate::{Event, Queue, Status};
use cl3::command_queue as q;
use cl3::error_codes::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
use interop_core::Result;
use std::ffi::c_void;

impl Queue {
    /// Blocks until the queue is empty (`clFinish`).
    ///
    /// # Errors
    /// The first error, also that of an earlier command.
    pub fn finish(&self) -> Result<()> {
        // rusticl's clFinish (seen with Mesa 22.3) does not wait for commands that were flushed before; a marker's event
        // it does wait for.
        let marked = self.marker(&[])?.wait();
        check("clFinish", q::finish(self.raw())).map_err(|f| self.error(f))?;
        marked
    }

    /// Returns an event for the end of `wait`, or of all earlier commands if that is empty
    /// (`clEnqueueMarkerWithWaitList`).
    pub fn marker(&self, wait: &[Event]) -> Result<Event> {
        // SAFETY: what `enqueue` passes is live.
        self.enqueue("clEnqueueMarkerWithWaitList", wait, |queue, n, list| unsafe {
            q::enqueue_marker_with_wait_list(queue, n, list)
        })
    }

    /// Returns an event for the end of `wait`, or of all earlier commands if that is empty. Later commands wait for it
    /// (`clEnqueueBarrierWithWaitList`).
    pub fn barrier(&self, wait: &[Event]) -> Result<Event> {
        // SAFETY: what `enqueue` passes is live.
        self.enqueue("clEnqueueBarrierWithWaitList", wait, |queue, n, list| unsafe {
            q::enqueue_barrier_with_wait_list(queue, n, list)
        })
    }

    /// Lets `call` enqueue one command: it gets the queue, the number of events and their list, and must return what
    /// the `clEnqueue` call returned.
    pub(crate) fn enqueue(
        &self,
        operation: &'static str,
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event> {
        for event in wait {
            self.context().check_same(event.context(), operation, "event")?;
        }
        // Now and not by its event: PoCL 3.1 never ends a command that was given an event which had failed before.
        if wait.iter().any(|event| matches!(event.lone.status(), Ok(Status::Failed(_)))) {
            let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            return Err(self.error(Failure { operation, code }));
        }
        // Commands that wait for another queue would wait forever if that queue was not flushed (OpenCL 3.0 API,
        // 5.15).
        for event in wait {
            if event.queue().is_some_and(|queue| !queue.is(self)) {
                event.flush()?;
            }
        }
        let event = with_list(wait, |n, list| call(self.raw(), n, list));
        // SAFETY: an event that was just created, whose one reference is ours.
        let event = unsafe { Event::own(self.context(), operation, event, Some(self)) }?;
        if self.is_pocl() {
            self.context().may_fail().queued(&event.lone);
        }
        queued(operation, &event);
        Ok(event)
    }

    /// Lets `call` enqueue one command that uses memory.
    pub(crate) fn enqueue_using(
        &self,
        operation: &'static str,
        uses: &[MemoryUse<'_>],
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event> {
        self.enter(operation, CommandEntry::shared(operation, uses).map_err(|f| self.error(f))?, wait, call)
    }

    /// Lets `call` enqueue one command that begins, or else ends, OpenCL's turn with memory.
    pub(crate) fn enqueue_turn(
        &self,
        operation: &'static str,
        (uses, begins): (&[MemoryUse<'_>], bool),
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event> {
        self.enter(operation, CommandEntry::turn(operation, uses, begins).map_err(|f| self.error(f))?, wait, call)
    }

    fn enter(
        &self,
        operation: &'static str,
        entering: CommandEntry<'_>,
        wait: &[Event],
        call: impl FnOnce(*mut c_void, u32, *const *mut c_void) -> Result<*mut c_void, i32>,
    ) -> Result<Event> {
        let after_none = entering.after.is_empty();
        let event = if after_none {
            self.enqueue(operation, wait, call)
        } else {
            self.enqueue(operation, &[wait, &entering.after].concat(), call)
        }?;
        // In order, and waiting for nothing that could fail before, its end is the end of all before it.
        let last = wait.is_empty() && after_none && !self.is_out_of_order();
        entering.entered(&event, last);
        Ok(event)
    }
}
