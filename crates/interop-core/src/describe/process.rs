//! The process that opened drivers. A forked child gets a copy of their memory, and none of their threads: whatever it calls may
//! wait for a thread that it does not have. So a child of a process with open drivers opens none, and objects that came along
//! are only closed, which leaves them as they are.

use super::error::{Error, Result};
use super::forks::OPENED;
use super::threads::{HandlersKept, SignalsBlocked};
use std::sync::atomic::Ordering;

pub use super::forks::{ProcessMark, ProcessOwned, is_forked};

impl ProcessMark {
    /// Refuses what came from a process that this one was forked from.
    ///
    /// # Errors
    /// [`Error::Unavailable`] in a forked process.
    pub fn check(self, what: &str) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(Error::forked(what)) }
    }
}

/// Stands before every opening of a driver. Until what it returns is dropped, the driver's threads are started without the host's
/// signals.
///
/// # Errors
/// [`Error::Unavailable`] where drivers were opened in a process from which this one was forked.
pub fn enter(driver: &str) -> Result<Entered> {
    let ProcessMark(own) = ProcessMark::here();
    match OPENED.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Err(opened) if opened != own => Err(Error::forked(driver)),
        _ => Ok(Entered { _handlers: HandlersKept::new(), _blocked: SignalsBlocked::new() }),
    }
}

/// What [`enter`] gives: a driver is being opened.
#[must_use]
pub struct Entered {
    // Before the mask: a signal that waits goes to the host's handler.
    _handlers: HandlersKept,
    _blocked: SignalsBlocked,
}

/// Stands before every call of a driver.
///
/// # Errors
/// [`Error::Unavailable`] where [`is_forked`].
pub fn check(what: &str) -> Result<()> {
    if is_forked() { Err(Error::forked(what)) } else { Ok(()) }
}
