//! The two ends of an event: who completes it, and who is told.

use super::clock::now;
use super::device_event::DeviceEvent;
use super::event::Event;
use super::state::State;
use super::status::Profile;
use crate::describe::error::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// The end of an event that its backend holds. Dropped without a word, the event fails, so that nobody waits forever.
pub struct Completer {
    /// `None` once told.
    state: Option<Arc<State>>,
    queued: u64,
    submitted: u64,
}

impl Completer {
    /// Both ends of a new event.
    pub fn new() -> (Self, Event) {
        let state = Arc::new(State::default());
        let queued = now();
        (Self { state: Some(state.clone()), queued, submitted: queued }, Event::of(state))
    }

    /// The device has it now, and can order other work after `device`.
    pub fn submitted(&mut self, device: Option<Arc<dyn DeviceEvent>>) {
        self.submitted = now();
        if let Some(state) = &self.state {
            state.set_device(device);
        }
    }

    /// It runs on a thread of the host.
    pub fn running(&self) {
        if let Some(state) = &self.state {
            state.set_running();
        }
    }

    /// It is over.
    pub fn complete(mut self, outcome: Result<()>) {
        self.settle(outcome, None);
    }

    /// It is over; `span` is when the device began and ended, on the clock of [`super::now`].
    pub fn complete_profiled(mut self, outcome: Result<()>, span: Option<(u64, u64)>) {
        let queued = self.queued;
        // This thread may have been stopped between the call and its look at the clock.
        let submitted = |started| self.submitted.min(started).max(queued);
        let profile = span.map(|(started, ended)| Profile { queued, submitted: submitted(started), started, ended });
        self.settle(outcome, profile);
    }

    /// It could not be started; gives the error back for the caller.
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
        self.settle(Err(Error::EventFailed { reason: "it was given up before it was complete".into() }), None);
    }
}

impl fmt::Debug for Completer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completer").finish_non_exhaustive()
    }
}

/// An event that the program completes. Operations of any queue of any backend may wait for it.
///
/// Dropped, it fails: what waits for it then fails too, and nothing hangs.
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
    /// A new event, not complete.
    pub fn new() -> Self {
        let (completer, event) = Completer::new();
        Self { completer, event }
    }

    /// The event, for wait lists.
    pub fn event(&self) -> Event {
        self.event.clone()
    }

    /// Lets go of what waits for it.
    pub fn complete(self) {
        self.completer.complete(Ok(()));
    }

    /// Fails it, and with it what waits for it.
    pub fn fail(self, reason: impl Into<String>) {
        self.completer.complete(Err(Error::EventFailed { reason: reason.into() }));
    }
}

impl Default for UserEvent {
    fn default() -> Self {
        Self::new()
    }
}
