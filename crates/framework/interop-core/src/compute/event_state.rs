//! State shared by the clones of an event: its outcome, its wakers and its callbacks.

use super::device_event::DeviceEvent;
use super::flat::flat;
use super::status::{EventStatus, Profile};
use crate::describe::error::Result;
use crate::describe::panics::contain;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

type Callback = Box<dyn FnOnce(&Result<()>) + Send>;

#[derive(Default)]
pub(super) struct EventState {
    inner: Mutex<Inner>,
    settled: Condvar,
}

#[derive(Default)]
struct Inner {
    outcome: Option<Result<()>>,
    running: bool,
    device: Option<Arc<dyn DeviceEvent>>,
    profile: Option<Profile>,
    /// Wakers, by the slot of the future that left each.
    wakers: Vec<(u64, Waker)>,
    next_slot: u64,
    callbacks: Vec<Callback>,
}

impl EventState {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No foreign code runs under the lock, so a poisoned lock still protects whole values.
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
                // Drivers are not called under the lock.
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
        // Dropping a waker runs code of the async runtime.
        drop(inner);
        drop(replaced);
        Poll::Pending
    }

    /// Removes the waker of a future that was dropped.
    pub fn forget(&self, slot: u64) {
        let mut inner = self.lock();
        let at = inner.wakers.iter().position(|(s, _)| *s == slot);
        let waker = at.map(|at| inner.wakers.swap_remove(at));
        drop(inner);
        drop(waker);
    }

    /// Records that the device has the operation.
    pub fn set_device(&self, device: Option<Arc<dyn DeviceEvent>>) {
        self.lock().device = device;
    }

    /// Records that the operation runs on a thread of the host.
    pub fn set_running(&self) {
        self.lock().running = true;
    }

    pub fn settle(&self, outcome: Result<()>, profile: Option<Profile>) {
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
    contain("callback of an event (the event itself is complete)", || callback(outcome));
}
