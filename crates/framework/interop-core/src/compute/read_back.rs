//! A copy to the host that is in progress.

use super::event::Event;
use super::host_buffer::HostBuffer;
use crate::describe::PlainMutex;
use crate::describe::error::{Error, Result};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Slot in which an operation stores the bytes that it read; for backends.
#[derive(Clone, Default)]
pub struct ReadSlot(Arc<PlainMutex<Option<HostBuffer>>>);

impl ReadSlot {
    /// Stores the bytes. Call it before completing the event.
    pub fn put(&self, bytes: HostBuffer) {
        *self.0.lock() = Some(bytes);
    }

    fn take(&self) -> Result<HostBuffer> {
        let bytes = self.0.lock().take();
        bytes.ok_or_else(|| Error::invalid("ReadBack", "the bytes were already taken"))
    }
}

/// The bytes of a [`super::ComputeQueue::read`]: await it as a future, or call [`ReadBack::wait`].
///
/// After an early drop, the copy continues into storage of its own, which is then discarded.
#[must_use = "this value holds the bytes that were read"]
pub struct ReadBack {
    event: Event,
    slot: ReadSlot,
}

impl ReadBack {
    /// Creates a read-back; for backends.
    pub fn new(event: Event, slot: ReadSlot) -> Self {
        Self { event, slot }
    }

    /// Returns the copy's event, for wait lists.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Waits on this thread and returns the bytes.
    ///
    /// # Errors
    /// The errors of [`Event::wait`].
    pub fn wait(self) -> Result<HostBuffer> {
        self.event.wait()?;
        self.slot.take()
    }
}

impl Future for ReadBack {
    type Output = Result<HostBuffer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.event).poll(context).map(|outcome| outcome.and_then(|()| self.slot.take()))
    }
}

crate::debug_as!(ReadBack, |this| event = &this.event);
