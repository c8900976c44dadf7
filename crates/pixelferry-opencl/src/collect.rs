//! [`Enqueued`]: the commands that a thread enqueues, whoever gets their events.

use crate::Event;
use std::cell::RefCell;
use std::time::Instant;

/// A command that [`Event::collect`] saw.
#[derive(Debug)]
#[non_exhaustive]
pub struct Enqueued {
    /// The call, e.g. `clEnqueueReadBuffer`.
    pub call: &'static str,
    /// Time at which it began to be enqueued, or the command before it had been: the device may begin before the driver
    /// gives the `cl_event`.
    pub since: Instant,
    /// Its event.
    pub event: Event,
}

thread_local! {
    /// Those since [`Event::collect`] began, and when the next began to be enqueued; `None` where nobody collects.
    static COLLECTED: RefCell<Option<(Instant, Vec<Enqueued>)>> = const { RefCell::new(None) };
}

impl Event {
    /// Runs `f` and gives the commands that this thread enqueued meanwhile, in order: also those whose `cl_event` the methods
    /// that block keep to themselves. Their times, say, are [`Event::profile`]'s.
    pub fn collect<R>(f: impl FnOnce() -> R) -> (R, Vec<Enqueued>) {
        let before = COLLECTED.replace(Some((Instant::now(), Vec::new())));
        let result = f();
        let collected = COLLECTED.replace(before);
        (result, collected.map(|(_, commands)| commands).unwrap_or_default())
    }
}

/// To be told of every command: keeps its event where somebody collects.
pub fn queued(call: &'static str, event: &Event) {
    // A thread that ends has none any more, where what it held queues its last commands.
    let _ = COLLECTED.try_with(|collected| {
        if let Some((next, commands)) = &mut *collected.borrow_mut() {
            let since = std::mem::replace(next, Instant::now());
            commands.push(Enqueued { call, since, event: event.clone() });
        }
    });
}
