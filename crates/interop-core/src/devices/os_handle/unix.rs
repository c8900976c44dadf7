//! File descriptors. A driver that imports one takes it; of those that it refuses, not every driver leaves all alone.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Result;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// Owns what the operating system calls memory or a semaphore; closed on drop.
pub type OsHandle = OwnedFd;

/// The number that drivers are given for a handle.
pub type RawOsHandle = RawFd;

/// No handle.
pub const NONE: RawOsHandle = -1;

/// Returns what a driver gave out; `None` where it is no handle.
///
/// # Safety
/// It is open and the caller's alone, unless it is not a descriptor.
pub unsafe fn own(raw: RawOsHandle) -> Option<OsHandle> {
    // SAFETY: the caller's promise.
    (raw >= 0).then(|| unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A handle given to the driver. A descriptor is the driver's where it takes it, and in some of the cases where it does
/// not; so dropping this closes nothing.
#[derive(Debug)]
pub struct ImportedHandle {
    number: RawFd,
    /// Names the same open file, so that the number is recognised.
    witness: Option<OwnedFd>,
}

impl ImportedHandle {
    /// From here on the driver may take it.
    pub fn new(handle: OsHandle) -> Self {
        // Without a witness, of which there is none only at the limit of descriptors, nothing is closed after a refusal.
        let witness = handle.try_clone().ok();
        Self { number: handle.into_raw_fd(), witness }
    }

    /// Returns what the driver is told.
    pub fn number(&self) -> RawOsHandle {
        self.number
    }

    /// The handle for APIs whose lists are of numbers (`cl_khr_external_memory`).
    pub fn property(&self) -> u64 {
        self.number as u64
    }

    /// After a refusal: closes the handle unless the driver has.
    pub fn close_if_left(self) {
        let Some(witness) = &self.witness else { return };
        // SAFETY: only asked about, which a closed number answers with an error, and never closed from here.
        let number = unsafe { BorrowedFd::borrow_raw(self.number) };
        if is_same_file(witness.as_fd(), number).unwrap_or(false) {
            // SAFETY: the number still names the open file that was given to us, so it is nobody else's.
            drop(unsafe { OwnedFd::from_raw_fd(self.number) });
        }
    }
}

/// Tells whether two descriptors name one open file description. Device and inode do not tell: every handle of one driver may
/// have the same. Status flags belong to the description (`fcntl(2)`, `F_SETFL`), so a change by one is seen by the other.
fn is_same_file(witness: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool> {
    let before = fcntl_getfl(witness)?;
    let mut same = fcntl_getfl(other)? == before;
    // There and back: by chance another file has the flag of one moment, not of both.
    for flags in [before ^ OFlags::NONBLOCK, before] {
        fcntl_setfl(witness, flags)?;
        same &= fcntl_getfl(other)? == fcntl_getfl(witness)?;
    }
    Ok(same)
}
