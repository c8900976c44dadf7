//! Events: each queued operation has one, whose status can be polled, waited for or awaited.

use super::device_event::DeviceEvent;
use super::event_state::EventState;
use super::status::{EventStatus, Profile};
use crate::describe::error::Result;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The completion of one operation of a [`super::ComputeQueue`], or of a [`super::UserEvent`].
///
/// Clones refer to the same event. An event may move to any thread, outlive the queue, memory and backend, and be
/// dropped at any time without cancelling the operation. As a [`Future`] it needs no runtime; the thread that sees the
/// device finish wakes it once.
///
/// ```
/// use interop_core::UserEvent;
/// use std::sync::mpsc;
///
/// let (user, (told, hears)) = (UserEvent::new(), mpsc::channel());
/// let event = user.event();
/// event.on_complete(move |outcome| drop(told.send(outcome.is_ok())));
/// user.complete();
/// event.wait()?;
/// assert_eq!(hears.recv(), Ok(true));
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct Event {
    state: Arc<EventState>,
    /// Slot of this clone's waker, set by the first poll.
    slot: Option<u64>,
}

impl Event {
    pub(super) fn of(state: Arc<EventState>) -> Self {
        Self { state, slot: None }
    }

    /// Returns how far the operation is. Does not wait.
    pub fn status(&self) -> EventStatus {
        self.state.status()
    }

    /// True once it is complete or failed.
    pub fn is_settled(&self) -> bool {
        self.state.is_settled()
    }

    /// Returns the outcome; `None` while the operation is not settled.
    pub fn outcome(&self) -> Option<Result<()>> {
        self.state.outcome()
    }

    /// Waits on this thread. Do not call it from a callback of [`Event::on_complete`], whose thread may be the one that
    /// completes the event.
    ///
    /// # Errors
    /// The error that ended the operation; [`crate::Error::EventFailed`] where it never started.
    pub fn wait(&self) -> Result<()> {
        self.state.wait()
    }

    /// Calls `f` once with the outcome: on this thread if it is known, otherwise on the thread that completes the
    /// event. `f` should be short and must not wait for other events. A panic in it is logged and goes no further.
    pub fn on_complete(&self, f: impl FnOnce(&Result<()>) + Send + 'static) {
        self.state.on_complete(Box::new(f));
    }

    /// Returns the times of its stages; `None` where it is not complete or its queue does not profile.
    pub fn profile(&self) -> Option<Profile> {
        self.state.profile()
    }

    /// Returns the device's handle of the operation while the device has it; for backends.
    pub fn device_event(&self) -> Option<Arc<dyn DeviceEvent>> {
        self.state.device_event()
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Clone for Event {
    fn clone(&self) -> Self {
        Self::of(self.state.clone())
    }
}

crate::debug_as!(Event, |this| status = &this.status());

impl Future for Event {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.state.poll(&mut this.slot, context.waker())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.state.forget(slot);
        }
    }
}
