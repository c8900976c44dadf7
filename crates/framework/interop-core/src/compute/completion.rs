//! The two ends of an event: one completes it, the other is informed.

use super::clock::now;
use super::device_event::DeviceEvent;
use super::event::Event;
use super::event_state::EventState;
use super::status::Profile;
use crate::describe::error::{Error, Result};
use std::sync::Arc;

/// The backend's end of an event. Dropping it without completing it fails the event, so that no waiter waits forever.
pub struct Completer {
    /// `None` once the event is settled.
    state: Option<Arc<EventState>>,
    queued: u64,
    submitted: u64,
}

impl Completer {
    /// Returns both ends of a new event.
    pub fn new() -> (Self, Event) {
        let state = Arc::new(EventState::default());
        let queued = now();
        (Self { state: Some(state.clone()), queued, submitted: queued }, Event::of(state))
    }

    /// Marks the operation as submitted. The device can order other work after `device`.
    pub fn submitted(&mut self, device: Option<Arc<dyn DeviceEvent>>) {
        self.submitted = now();
        if let Some(state) = &self.state {
            state.set_device(device);
        }
    }

    /// Marks the operation as running on a thread of the host.
    pub fn running(&self) {
        if let Some(state) = &self.state {
            state.set_running();
        }
    }

    /// Settles the event with the operation's outcome.
    pub fn complete(mut self, outcome: Result<()>) {
        self.settle(outcome, None);
    }

    /// Settles the event with the operation's outcome; `span` is the time at which the device began and ended, on the
    /// clock of [`super::now`].
    pub fn complete_profiled(mut self, outcome: Result<()>, span: Option<(u64, u64)>) {
        let queued = self.queued;
        // This thread may have been suspended between the call and its reading of the clock.
        let submitted = |started| self.submitted.min(started).max(queued);
        let profile = span.map(|(started, ended)| Profile { queued, submitted: submitted(started), started, ended });
        self.settle(outcome, profile);
    }

    /// Fails the event because the operation could not be started. Returns the error for the caller.
    pub fn refuse(self, error: Error) -> Error {
        self.complete(Err(error.clone()));
        error
    }

    fn settle(&mut self, outcome: Result<()>, profile: Option<Profile>) {
        if let Some(state) = self.state.take() {
            state.settle(outcome, profile);
        }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        self.settle(Err(Error::EventFailed { reason: "its completion handle was dropped first".into() }), None);
    }
}

crate::debug_as!(Completer);

/// An event that the program completes. Operations of any queue of any backend may wait for it.
///
/// Dropping it before it is complete fails it, and with it the operations that wait for it, so nothing hangs.
///
/// ```
/// use interop_core::UserEvent;
///
/// let user = UserEvent::new();
/// let event = user.event();
/// assert!(!event.is_settled());
/// user.complete();
/// event.wait()?;
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug)]
pub struct UserEvent {
    completer: Completer,
    event: Event,
}

impl UserEvent {
    /// Creates an event that is not complete.
    pub fn new() -> Self {
        let (completer, event) = Completer::new();
        Self { completer, event }
    }

    /// Returns the event, for wait lists.
    pub fn event(&self) -> Event {
        self.event.clone()
    }

    /// Completes the event and so releases the operations that wait for it.
    pub fn complete(self) {
        self.completer.complete(Ok(()));
    }

    /// Fails the event, and with it the operations that wait for it.
    pub fn fail(self, reason: impl Into<String>) {
        self.completer.complete(Err(Error::EventFailed { reason: reason.into() }));
    }
}

impl Default for UserEvent {
    fn default() -> Self {
        Self::new()
    }
}
