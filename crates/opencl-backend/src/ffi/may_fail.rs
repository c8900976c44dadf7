//! Events that are kept while PoCL may still touch them for a command that failed by its wait list.
//!
//! PoCL 3.1 locks the event of such a command after it has let go of it, and ends the process where nobody else holds it:
//! at the call that sets the event of the program's own by which the command fails, and once more when another command,
//! which the failed one waited for too, comes to its end. So what is queued while an event of the program's own is not
//! set is held until then, and of that what failed is held until all it waited for is over, and a good while longer, as a
//! command is told to be complete before PoCL has gone through those that wait for it.

use super::Event;
use super::event::Status;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The commands of one context.
#[derive(Default)]
pub struct MayFail {
    /// Events of the program's own that are not set.
    unset: AtomicUsize,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// Queued while an event of the program's own was not set.
    queued: Vec<Command>,
    prune_at: usize,
    /// Failed, the oldest first.
    failed: VecDeque<Command>,
}

struct Command {
    event: Event,
    /// What it waits for.
    before: Vec<Event>,
}

impl Command {
    /// Nothing that it waited for can still come to its end.
    fn is_alone(&self) -> bool {
        self.before.iter().all(is_final)
    }
}

fn is_final(event: &Event) -> bool {
    event.status().is_ok_and(Status::is_final)
}

const FIRST_PRUNE: usize = 64;

/// So many failed commands are held after all that they waited for.
const LONGER: usize = 64;

impl MayFail {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is one more event that is not set.
    pub fn begin(&self) {
        self.unset.fetch_add(1, Ordering::SeqCst);
    }

    /// One was set.
    pub fn end(&self) {
        if self.unset.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        let queued = std::mem::take(&mut self.lock().queued);
        // Drivers are not called under the lock.
        let (failed, over): (Vec<_>, Vec<_>) =
            queued.into_iter().partition(|command| matches!(command.event.status(), Ok(Status::Failed(_))));
        drop(over);
        let old = {
            let mut held = self.lock();
            held.failed.extend(failed);
            let many = held.failed.len().saturating_sub(LONGER);
            held.failed.drain(..many).collect::<Vec<_>>()
        };
        let (over, waited): (Vec<_>, Vec<_>) = old.into_iter().partition(Command::is_alone);
        drop(over);
        let mut held = self.lock();
        waited.into_iter().rev().for_each(|command| held.failed.push_front(command));
    }

    /// A command is in its queue, after the one queued there before it and after those of its wait list.
    pub fn queued(&self, event: &Event, previous: Option<Event>, wait: &[Event]) {
        if self.unset.load(Ordering::SeqCst) == 0 {
            return;
        }
        // Without their queues, which keep the context that keeps this.
        let before = previous.into_iter().chain(wait.iter().map(Event::alone)).collect();
        let mut held = self.lock();
        held.queued.push(Command { event: event.alone(), before });
        if held.queued.len() > held.prune_at.max(FIRST_PRUNE) {
            held.queued.retain(|command| !(is_final(&command.event) && command.is_alone()));
            held.prune_at = 2 * held.queued.len();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // To wait here could be for ever, on a thread of the driver's.
        for command in self.queued.drain(..).chain(self.failed.drain(..)).filter(|command| !command.is_alone()) {
            tracing::warn!("the event of a failed command is never released: what it waited for is not over");
            std::mem::forget(command);
        }
    }
}
