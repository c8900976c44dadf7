//! The process that opened drivers. A forked child has a copy of the drivers' memory but none of their threads, so any
//! call may wait forever for a thread that is missing. A child of a process with open drivers therefore opens none, and
//! inherited objects are only closed, which leaves the parent's unchanged.

use super::error::{Error, Result};
use super::forks::OPENED;
use super::threads::{SignalHandlerGuard, SignalMaskGuard};
use std::sync::atomic::Ordering;

pub use super::forks::{ForkGuard, ProcessMark, is_forked};

impl ProcessMark {
    /// Checks that the object was made in this process and not in one that this process was forked from.
    ///
    /// # Errors
    /// [`Error::Unavailable`] in a forked process.
    pub fn check(self, what: &str) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(Error::forked(what)) }
    }
}

/// Precedes every opening of a driver. Until the returned guard is dropped, threads that the driver starts block the
/// host's signals.
///
/// # Errors
/// [`Error::Unavailable`] where drivers were opened in a process from which this one was forked.
pub fn enter(driver: &str) -> Result<DriverOpenGuard> {
    let ProcessMark(own) = ProcessMark::here();
    match OPENED.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Err(opened) if opened != own => Err(Error::forked(driver)),
        _ => Ok(DriverOpenGuard { _handlers: SignalHandlerGuard::new(), _blocked: SignalMaskGuard::new() }),
    }
}

/// Guard of [`enter`]: a driver is being opened.
#[must_use]
pub struct DriverOpenGuard {
    // Dropped before the mask, so that a pending signal reaches the host's handler.
    _handlers: SignalHandlerGuard,
    _blocked: SignalMaskGuard,
}

/// Precedes every call of a driver.
///
/// # Errors
/// [`Error::Unavailable`] where [`is_forked`] is true.
pub fn check(what: &str) -> Result<()> {
    if is_forked() { Err(Error::forked(what)) } else { Ok(()) }
}
