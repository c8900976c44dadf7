//! Semaphores that a display makes and a compute device opens.

use super::staging::Staging;
use crate::describe::error::{Error, Result, call};
use crate::describe::process::ProcessOwned;
use crate::devices::capability::SyncKind;

/// What a display's driver does with a semaphore of its own. Its calls come checked, from [`DisplaySemaphore`].
pub trait SemaphoreDriver {
    /// Signals when the display has done all that it was told so far with `staging`. Does not wait.
    ///
    /// `value` is the counter's new value, above any before; binary semaphores ignore it.
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()>;

    /// Implements [`DisplaySemaphore::wait`].
    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()>;
}

/// The display's end of a semaphore. Dropped while the display's context is current, or later.
pub struct DisplaySemaphore {
    kind: SyncKind,
    /// The counter as the display has set it last.
    signalled: u64,
    driver: ProcessOwned<Box<dyn SemaphoreDriver>>,
}

impl DisplaySemaphore {
    pub(super) fn new(kind: SyncKind, driver: Box<dyn SemaphoreDriver>) -> Self {
        Self { kind, signalled: 0, driver: ProcessOwned::new(driver) }
    }

    /// Signals when the display has done all that it was told so far with `staging`. Does not wait.
    ///
    /// `value` is the counter's new value; binary semaphores ignore it, and must have been waited for before.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a counter that does not grow; [`Error::Foreign`] for a block of another display; what the
    /// driver reports.
    pub fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        call("DisplaySemaphore::signal", || {
            if self.kind == SyncKind::TimelineSemaphore && value <= self.signalled {
                let problem = format!("the counter can only grow: it is {} and was to become {value}", self.signalled);
                return Err(Error::refused(problem));
            }
            self.driver.signal(value, staging)?;
            self.signalled = value;
            Ok(())
        })
    }

    /// Lets what the display is told from now on wait until the semaphore is signalled (the counter is at least
    /// `value`), and see what was written to `staging` before. Does not wait.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a block of another display; what the driver reports.
    pub fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        call("DisplaySemaphore::wait", || self.driver.wait(value, staging))
    }
}
