//! Care for PoCL where commands fail by their wait lists.
//!
//! Such a failure comes from an event of the program, at the call that sets it. PoCL 3.1 then has two bugs:
//! - It locks the event of such a command after releasing it. It locks it once more when another command ends for which
//!   the failed one waited, too. It ends the process where nobody else holds the event. So events are held until their
//!   commands are over, and those that failed for longer.
//! - It runs a command that it is about to fail, and then ends it twice. That happens where something else for which
//!   the command waits ends at that very moment. So an event fails only while nothing runs in its context.
//!
//! What a command waits for is more than its list and its queue: PoCL adds what used its memory last. PoCL reports a
//! command as complete before it has gone through those that wait for it. After that it gives up its own reference.

use super::Status;
use super::lone_event::LoneEvent;
use interop_core::describe::PlainMutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The commands of one context of PoCL's.
#[derive(Default)]
pub struct MayFail {
    /// Events of the program that are not set yet.
    unset: AtomicUsize,
    held: PlainMutex<PendingCommands>,
}

/// Events without their queues, which keep the context that keeps this.
#[derive(Default)]
struct PendingCommands {
    /// Not known to be over.
    commands: Vec<LoneEvent>,
    prune_at: usize,
    /// The oldest first.
    failed: VecDeque<LoneEvent>,
}

const FIRST_PRUNE: usize = 64;

/// Number of the latest failed ones that are kept in any case.
const LAST_FAILED: usize = 64;

/// From this number of commands on, a reference to a complete one counts as another owner's.
const MANY: usize = 256;

/// Time for which an event that is to fail waits for running work. Work that waits for the thread that fails the event
/// is not waited for longer.
const SETTLED_AFTER: Duration = Duration::from_millis(50);

/// Interval between two checks of that work.
const LOOK: Duration = Duration::from_micros(100);

/// True where PoCL has done all that it does at the end of a command.
fn is_left(event: &LoneEvent) -> bool {
    event.references().is_ok_and(|references| references <= 1)
}

impl PendingCommands {
    /// Lets go of what is over, except for the last that failed.
    fn prune(&mut self) {
        for event in std::mem::take(&mut self.commands) {
            match event.status() {
                Ok(Status::Failed(_)) => self.failed.push_back(event),
                Ok(Status::Complete) if self.commands.len() >= MANY || is_left(&event) => {}
                _ => self.commands.push(event),
            }
        }
        self.prune_at = 2 * self.commands.len();
        if self.commands.is_empty() {
            let old = self.failed.len().saturating_sub(LAST_FAILED);
            self.failed.drain(..old);
        }
    }
}

impl MayFail {
    /// There is one more event that is not set.
    pub fn begin(&self) {
        self.unset.fetch_add(1, Ordering::SeqCst);
    }

    /// One is about to fail.
    pub fn settle(&self) {
        let began = Instant::now();
        // Those that wait are queued, and no more.
        let runs =
            |event: &LoneEvent| event.status().is_ok_and(|s| s != Status::Queued && !(s.is_final() && is_left(event)));
        while began.elapsed() < SETTLED_AFTER && self.held.lock().commands.iter().any(runs) {
            std::thread::sleep(LOOK);
        }
    }

    /// One was set.
    pub fn end(&self) {
        if self.unset.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.held.lock().prune();
        }
    }

    /// A command is in its queue.
    pub fn queued(&self, event: &LoneEvent) {
        let mut held = self.held.lock();
        held.commands.push(event.clone());
        if held.commands.len() > held.prune_at.max(FIRST_PRUNE) {
            held.prune();
        }
    }
}

impl Drop for PendingCommands {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.prune();
        if !self.commands.is_empty() && !self.failed.is_empty() {
            // To wait here could be forever, on a thread of the driver's.
            tracing::warn!(
                "events of failed commands are never released: other commands of their context have not ended"
            );
            std::mem::forget(std::mem::take(&mut self.failed));
        }
    }
}
