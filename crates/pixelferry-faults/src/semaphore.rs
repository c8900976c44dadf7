//! Both ends of a semaphore, wrapped.

use crate::faults::Faults;
use interop_core::{ComputeSemaphore, DisplaySemaphore, Result, Staging};

/// The compute side's end.
pub(crate) struct ComputeSemaphoreDouble {
    pub inner: Box<dyn ComputeSemaphore>,
    pub faults: Faults,
}

impl ComputeSemaphore for ComputeSemaphoreDouble {
    crate::forward! {
        ComputeSignal before &mut signal(value: u64) -> Result<()>;
        ComputeWait before &mut wait(value: u64) -> Result<()>;
    }
}

/// The display's end.
pub(crate) struct DisplaySemaphoreDouble {
    pub inner: Box<dyn DisplaySemaphore>,
    pub faults: Faults,
}

impl DisplaySemaphore for DisplaySemaphoreDouble {
    crate::forward! {
        DisplaySignal before &mut signal(value: u64, staging: &mut dyn Staging) -> Result<()>;
        DisplayWait before &mut wait(value: u64, staging: &mut dyn Staging) -> Result<()>;
    }
}
