//! [`Timeline`]: the commands whose times are still to be told, and by what clock.

use interop_core::DeviceClock;
use interop_core::devices::timeline::Backlog;
use pixelferry_opencl::base::TimedCommand;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Off until it is switched on.
#[derive(Default)]
pub struct Timeline {
    pub backlog: Backlog<TimedCommand>,
    known: Mutex<Option<Known>>,
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
