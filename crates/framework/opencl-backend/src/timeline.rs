//! The type [`Timeline`]: commands whose times were not read yet, and the clock of these times.

use crate::cl::{EnqueuedCommand, Event};
use interop_core::DeviceClock;
use interop_core::describe::PlainMutex;
use interop_core::devices::timeline::{Backlog, Work};
use std::sync::{Arc, MutexGuard};

/// The timeline; off until it is switched on.
#[derive(Default)]
pub struct Timeline {
    pub backlog: Backlog<TimedCommand>,
    known: PlainMutex<Option<DeviceTrack>>,
}

/// A command of a queue that records times.
pub struct TimedCommand {
    pub work: Work,
    pub event: Event,
}

impl TimedCommand {
    /// Records a command; `kernel` is the name of the kernel that it launches, if there is one.
    pub fn new(EnqueuedCommand { call, since, event, .. }: EnqueuedCommand, kernel: Option<&str>) -> Self {
        let mut work = match (call.strip_prefix("clEnqueue").unwrap_or(call), kernel) {
            ("NDRangeKernel", kernel) => Work::new(kernel.unwrap_or("kernel").to_owned()),
            (other, _) => Work::new(other),
        };
        work.queued = since;
        Self { work, event }
    }
}

/// The clock and the track with which device times become spans.
#[derive(Clone)]
pub struct DeviceTrack {
    pub clock: DeviceClock,
    pub track: Arc<str>,
}

impl Timeline {
    /// `None` until it is switched on for the first time.
    pub fn known(&self) -> MutexGuard<'_, Option<DeviceTrack>> {
        self.known.lock()
    }
}
