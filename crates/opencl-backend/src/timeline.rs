//! [`Timeline`]: the commands whose times are still to be told, and by what clock.

use crate::cl::{Enqueued, Event};
use interop_core::DeviceClock;
use interop_core::devices::timeline::{Backlog, Work};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Off until it is switched on.
#[derive(Default)]
pub struct Timeline {
    pub backlog: Backlog<TimedCommand>,
    known: Mutex<Option<Known>>,
}

/// A command of a queue that takes times.
pub struct TimedCommand {
    pub work: Work,
    pub event: Event,
}

impl TimedCommand {
    /// `kernel` is the name of the kernel that it launches, if it launches one.
    pub fn new(Enqueued { call, since, event, .. }: Enqueued, kernel: Option<&str>) -> Self {
        let mut work = match (call.strip_prefix("clEnqueue").unwrap_or(call), kernel) {
            ("NDRangeKernel", kernel) => Work::new(kernel.unwrap_or("kernel").to_owned()),
            (other, _) => Work::new(other),
        };
        work.queued = since;
        Self { work, event }
    }
}

/// Clock and track that turn times of the device into spans.
#[derive(Clone)]
pub struct Known {
    pub clock: DeviceClock,
    pub track: Arc<str>,
}

impl Timeline {
    /// `None` before it is switched on for the first time.
    pub fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
