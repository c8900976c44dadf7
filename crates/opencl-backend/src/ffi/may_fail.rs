//! Events that are kept while a command may fail by its wait list.
//!
//! PoCL 3.1 locks the event of such a command after it has let go of it, and ends the process where nobody else holds it.
//! A command fails so only by an event of the program's own, at the call that sets it: what is queued while there is one
//! that is not set is held until then.

use super::Event;
use super::event::Status;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The commands of one context.
#[derive(Default)]
pub struct MayFail {
    /// Events of the program's own that are not set.
    unset: AtomicUsize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    events: Vec<Event>,
    prune_at: usize,
}

const FIRST_PRUNE: usize = 64;

impl MayFail {
    /// There is one more event that is not set.
    pub fn begin(&self) {
        self.unset.fetch_add(1, Ordering::SeqCst);
    }

    /// One was set.
    pub fn end(&self) {
        if self.unset.fetch_sub(1, Ordering::SeqCst) == 1 {
            let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
            // Drivers are not called under the lock.
            drop(held);
        }
    }

    /// A command is in its queue.
    pub fn queued(&self, event: &Event) {
        if self.unset.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // Without its queue, which keeps the context that keeps this.
        held.events.push(event.alone());
        if held.events.len() > held.prune_at.max(FIRST_PRUNE) {
            held.events.retain(|event| !event.status().is_ok_and(Status::is_final));
            held.prune_at = 2 * held.events.len();
        }
    }
}
