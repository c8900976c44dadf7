//! The two ends of an event: who completes it, and who is told.

use super::clock::now;
use super::device_event::DeviceEvent;
use super::event::{Event, EventStatus, Profile};
use super::flat::flat;
use crate::error::{Error, Result};
use crate::panics::contain;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

type Callback = Box<dyn FnOnce(&Result<()>) + Send>;

/// What the clones of an event share.
#[derive(Default)]
pub(super) struct State {
    inner: Mutex<Inner>,
    settled: Condvar,
}

#[derive(Default)]
struct Inner {
    outcome: Option<Result<()>>,
    running: bool,
    device: Option<Arc<dyn DeviceEvent>>,
    profile: Option<Profile>,
    /// By the slot of the future that left it.
    wakers: Vec<(u64, Waker)>,
    next_slot: u64,
    callbacks: Vec<Callback>,
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing of others runs under the lock, so a poisoned one still holds whole values.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn status(&self) -> EventStatus {
        let inner = self.lock();
        match (&inner.outcome, &inner.device) {
            (Some(Ok(())), _) => EventStatus::Complete,
            (Some(Err(_)), _) => EventStatus::Failed,
            (None, _) if inner.running => EventStatus::Running,
            (None, None) => EventStatus::Queued,
            (None, Some(device)) => {
                let device = device.clone();
                // Drivers are not asked under the lock.
                drop(inner);
                device.status()
            }
        }
    }

    pub fn is_settled(&self) -> bool {
        self.lock().outcome.is_some()
    }

    pub fn outcome(&self) -> Option<Result<()>> {
        self.lock().outcome.clone()
    }

    pub fn profile(&self) -> Option<Profile> {
        self.lock().profile
    }

    pub fn device_event(&self) -> Option<Arc<dyn DeviceEvent>> {
        self.lock().device.clone()
    }

    pub fn wait(&self) -> Result<()> {
        let mut inner = self.lock();
        loop {
            match &inner.outcome {
                Some(outcome) => return outcome.clone(),
                None => inner = self.settled.wait(inner).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    pub fn on_complete(&self, callback: Callback) {
        let mut inner = self.lock();
        match inner.outcome.clone() {
            None => inner.callbacks.push(callback),
            Some(outcome) => {
                drop(inner);
                tell(callback, &outcome);
            }
        }
    }

    pub fn poll(&self, slot: &mut Option<u64>, waker: &Waker) -> Poll<Result<()>> {
        let mut inner = self.lock();
        if let Some(outcome) = &inner.outcome {
            return Poll::Ready(outcome.clone());
        }
        let known = slot.and_then(|slot| inner.wakers.iter().position(|(s, _)| *s == slot));
        let replaced = match known {
            Some(at) => Some(std::mem::replace(&mut inner.wakers[at].1, waker.clone())),
            None => {
                let new = inner.next_slot;
                inner.next_slot += 1;
                inner.wakers.push((new, waker.clone()));
                *slot = Some(new);
                None
            }
        };
        // A waker's drop is the runtime's code.
        drop(inner);
        drop(replaced);
        Poll::Pending
    }

    /// The future that left a waker is gone.
    pub fn forget(&self, slot: u64) {
        let mut inner = self.lock();
        let at = inner.wakers.iter().position(|(s, _)| *s == slot);
        let waker = at.map(|at| inner.wakers.swap_remove(at));
        drop(inner);
        drop(waker);
    }

    fn settle(&self, outcome: Result<()>, profile: Option<Profile>) {
        let mut inner = self.lock();
        let (wakers, callbacks) = (std::mem::take(&mut inner.wakers), std::mem::take(&mut inner.callbacks));
        let device = inner.device.take();
        inner.profile = profile;
        inner.outcome = Some(outcome.clone());
        drop(inner);
        self.settled.notify_all();
        drop(device);
        if !(wakers.is_empty() && callbacks.is_empty()) {
            flat(Box::new(move || {
                callbacks.into_iter().for_each(|callback| tell(callback, &outcome));
                for (_, waker) in wakers {
                    contain("waker of an event", || waker.wake());
                }
            }));
        }
    }
}

fn tell(callback: Callback, outcome: &Result<()>) {
    contain("callback of an event (the event is complete all the same)", || callback(outcome));
}

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
            state.lock().device = device;
        }
    }

    /// It runs on a thread of the host.
    pub fn running(&self) {
        if let Some(state) = &self.state {
            state.lock().running = true;
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
