//! Semaphores that a display makes and a compute device opens.

use super::staging::Staging;
use crate::describe::error::{Error, Result, call};
use crate::describe::process::ForkGuard;
use crate::devices::capability::SyncKind;

/// The driver of a display's semaphore. [`DisplaySemaphore`] checks its calls first.
pub trait SemaphoreDriver: Send + Sync {
    /// Signals the semaphore when the display has done all its work so far with `staging`. Does not wait.
    ///
    /// `value` is the counter's new value, greater than all before; binary semaphores ignore it.
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()>;

    /// Implements [`DisplaySemaphore::wait`].
    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()>;
}

/// The display's end of a semaphore. It is dropped while the display's context is current, or later.
pub struct DisplaySemaphore {
    kind: SyncKind,
    /// Value of the counter that the display signalled last.
    signalled: u64,
    driver: ForkGuard<Box<dyn SemaphoreDriver>>,
}

impl DisplaySemaphore {
    pub(super) fn new(kind: SyncKind, driver: Box<dyn SemaphoreDriver>) -> Self {
        Self { kind, signalled: 0, driver: ForkGuard::new(driver) }
    }

    /// Signals the semaphore when the display has done all its work so far with `staging`. Does not wait.
    ///
    /// `value` is the counter's new value. Binary semaphores ignore it, and must have been waited for since the last
    /// signal.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a counter that does not grow; [`Error::Foreign`] for a block of another display;
    /// errors of the driver.
    pub fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        call("DisplaySemaphore::signal", || {
            if self.kind == SyncKind::TimelineSemaphore && value <= self.signalled {
                let problem = format!("the counter can only grow: it is {}, and {value} was given", self.signalled);
                return Err(Error::refused(problem));
            }
            self.driver.signal(value, staging)?;
            self.signalled = value;
            Ok(())
        })
    }

    /// Makes the display's later work wait until the semaphore is signalled (until the counter is at least `value`),
    /// and see everything that was written to `staging` before. The call itself does not wait.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a block of another display; errors of the driver.
    pub fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        call("DisplaySemaphore::wait", || self.driver.wait(value, staging))
    }
}
