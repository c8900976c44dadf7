//! [`EnqueuedCommand`]: the commands that a thread enqueues, including those whose events are not returned.

use crate::Event;
use std::cell::RefCell;
use std::time::Instant;

/// A command that [`Event::collect`] recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct EnqueuedCommand {
    /// The call, e.g. `clEnqueueReadBuffer`.
    pub call: &'static str,
    /// Time at which its enqueueing began, or at which the previous command had been enqueued: the device may begin
    /// before the driver returns the `cl_event`.
    pub since: Instant,
    /// Its event.
    pub event: Event,
}

thread_local! {
    /// Commands since [`Event::collect`] began, and the time at which the next began to be enqueued; `None` while not
    /// collecting.
    static COLLECTED: RefCell<Option<(Instant, Vec<EnqueuedCommand>)>> = const { RefCell::new(None) };
}

impl Event {
    /// Runs `f` and returns the commands that this thread enqueued meanwhile, in order, including those whose
    /// `cl_event` blocking methods do not return. [`Event::profile`] returns their times.
    pub fn collect<R>(f: impl FnOnce() -> R) -> (R, Vec<EnqueuedCommand>) {
        let before = COLLECTED.replace(Some((Instant::now(), Vec::new())));
        let result = f();
        let collected = COLLECTED.replace(before);
        (result, collected.map(|(_, commands)| commands).unwrap_or_default())
    }
}

/// Called for every command: keeps its event while collecting.
pub fn queued(call: &'static str, event: &Event) {
    // The thread-local is gone while a thread ends, but dropped values may still enqueue commands.
    let _ = COLLECTED.try_with(|collected| {
        if let Some((next, commands)) = &mut *collected.borrow_mut() {
            let since = std::mem::replace(next, Instant::now());
            commands.push(EnqueuedCommand { call, since, event: event.clone() });
        }
    });
}
