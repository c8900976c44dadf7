//! Both ends of a semaphore, wrapped.

use crate::faults::Faults;
use crate::step::Step;
use interop_core::{ComputeSemaphore, DisplaySemaphore, Result, Staging};

/// The compute side's end.
pub(crate) struct ComputeSemaphoreDouble {
    pub inner: Box<dyn ComputeSemaphore>,
    pub faults: Faults,
}

impl ComputeSemaphore for ComputeSemaphoreDouble {
    fn signal(&mut self, value: u64) -> Result<()> {
        self.faults.check(Step::ComputeSignal)?;
        self.inner.signal(value)
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        self.faults.check(Step::ComputeWait)?;
        self.inner.wait(value)
    }
}

/// The display's end.
pub(crate) struct DisplaySemaphoreDouble {
    pub inner: Box<dyn DisplaySemaphore>,
    pub faults: Faults,
}

impl DisplaySemaphore for DisplaySemaphoreDouble {
    fn signal(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        self.faults.check(Step::DisplaySignal)?;
        self.inner.signal(value, staging)
    }

    fn wait(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        self.faults.check(Step::DisplayWait)?;
        self.inner.wait(value, staging)
    }
}
