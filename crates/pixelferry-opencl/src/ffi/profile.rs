//! The times of commands.

use super::Status;
use crate::Event;
use cl3::event::{CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START};
use interop_core::Result;
use interop_core::devices::timeline::Work;
use std::cell::RefCell;
use std::time::Instant;

/// A command of a queue that takes times.
pub struct TimedCommand {
    pub work: Work,
    event: Event,
}

impl TimedCommand {
    /// That of a marker.
    pub(crate) fn marker(event: Event) -> Self {
        Self { event, work: Work::new("marker") }
    }

    /// Waits until it is done.
    pub fn wait(&self) -> Result<()> {
        self.event.wait()
    }

    /// Tells whether it is done, well or not.
    pub fn is_done(&self) -> Result<bool> {
        self.event.status().map(Status::is_final)
    }

    /// Tells when the device began and ended it, nanoseconds of its own clock. Only for commands that are done.
    pub fn times(&self) -> Result<(u64, u64)> {
        Ok((self.event.time(CL_PROFILING_COMMAND_START)?, self.event.time(CL_PROFILING_COMMAND_END)?))
    }
}

/// Commands that a thread queues, with their times.
struct Collected {
    kernel: String,
    /// Time at which the next command began to be queued.
    since: Instant,
    commands: Vec<TimedCommand>,
}

thread_local! {
    /// Since [`collect`] began; `None` where nobody collects.
    static COLLECTED: RefCell<Option<Collected>> = const { RefCell::new(None) };
}

/// Runs `f` and returns what it queued; `kernel` is the name of the kernel among it.
pub fn collect<R>(kernel: Option<&str>, f: impl FnOnce() -> R) -> (R, Vec<TimedCommand>) {
    let kernel = kernel.unwrap_or("kernel").to_owned();
    let before = COLLECTED.replace(Some(Collected { kernel, since: Instant::now(), commands: Vec::new() }));
    let result = f();
    let collected = COLLECTED.replace(before);
    (result, collected.map(|collected| collected.commands).unwrap_or_default())
}

/// To be told of every command: keeps its event where somebody collects.
pub(crate) fn queued(operation: &'static str, event: &Event) {
    // A thread that ends has none any more, where what it held queues its last commands.
    let _ = COLLECTED.try_with(|collected| {
        if let Some(Collected { kernel, since, commands }) = &mut *collected.borrow_mut() {
            let mut work = match operation {
                "clEnqueueNDRangeKernel" => Work::new(kernel.clone()),
                other => Work::new(other.strip_prefix("clEnqueue").unwrap_or(other)),
            };
            // The device may have begun before the driver gave the event.
            std::mem::swap(&mut work.queued, since);
            commands.push(TimedCommand { work, event: event.clone() });
        }
    });
}
