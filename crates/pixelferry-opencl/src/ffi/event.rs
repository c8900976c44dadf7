//! [`Event`]: a command's event, and the queue that the command is in.

use super::handle::{EventKind, Handle};
use super::lone_event::LoneEvent;
use super::{Failure, Queue};
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr;

/// One command's event; clones are the same event.
#[derive(Clone)]
pub struct Event {
    lone: LoneEvent,
    /// Queue that the command is in; none for user events.
    queue: Option<Queue>,
}

/// For all that the queue has no part in.
impl Deref for Event {
    type Target = LoneEvent;

    fn deref(&self) -> &LoneEvent {
        &self.lone
    }
}

impl Event {
    /// # Safety
    /// An event in `result` must be live, and the caller hands over one reference to it.
    pub(super) unsafe fn own(
        operation: &'static str,
        result: Result<*mut c_void, i32>,
        queue: Option<&Queue>,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::own(operation, result) }?;
        Ok(Self::of(handle, queue.cloned()))
    }

    pub(super) fn of(handle: Handle<EventKind>, queue: Option<Queue>) -> Self {
        Self { lone: LoneEvent::new(handle), queue }
    }

    /// The queue that the command is in; none for user events.
    pub fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    /// Makes the device start on what is queued up to this command.
    pub fn flush(&self) -> Result<(), Failure> {
        self.queue.as_ref().map_or(Ok(()), Queue::flush)
    }
}

/// Calls `f` with the number of events and the address of their list; none is null.
pub(super) fn with_list<R>(wait: &[Event], f: impl FnOnce(u32, *const *mut c_void) -> R) -> R {
    let list: Vec<_> = wait.iter().map(|event| event.raw()).collect();
    f(list.len() as u32, if list.is_empty() { ptr::null() } else { list.as_ptr() })
}
