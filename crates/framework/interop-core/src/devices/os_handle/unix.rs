//! File descriptors. A driver takes ownership of a descriptor that it imports; after a failed import, some drivers have
//! closed it and some have not.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Result;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// Owns an operating-system handle of memory or a semaphore; closed on drop.
pub type OsHandle = OwnedFd;

/// The number by which drivers receive a handle.
pub type RawOsHandle = RawFd;

/// The invalid handle.
pub const NONE: RawOsHandle = -1;

/// Takes ownership of a descriptor that a driver returned; `None` where it is invalid.
///
/// # Safety
/// `raw` is open and owned by the caller alone, or it is not a descriptor.
pub unsafe fn own(raw: RawOsHandle) -> Option<OsHandle> {
    // SAFETY: the caller guarantees it.
    (raw >= 0).then(|| unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A handle passed to a driver. The driver owns the descriptor after a successful import, and in some cases after a
/// failed one; dropping this value closes nothing.
#[derive(Debug)]
pub struct ImportedHandle {
    number: RawFd,
    /// A duplicate that names the same open file, to recognise the number.
    witness: Option<OwnedFd>,
}

impl ImportedHandle {
    /// Gives up ownership: from here on the driver may take the handle.
    pub fn new(handle: OsHandle) -> Self {
        // There is no witness only at the limit of descriptors; then nothing is closed after a failed import.
        let witness = handle.try_clone().ok();
        Self { number: handle.into_raw_fd(), witness }
    }

    /// Returns the number for the driver.
    pub fn number(&self) -> RawOsHandle {
        self.number
    }

    /// Returns the handle as a property value, for APIs whose lists contain numbers (`cl_khr_external_memory`).
    pub fn property(&self) -> u64 {
        self.number as u64
    }

    /// After a failed import: closes the handle unless the driver has closed it.
    pub fn close_if_left(self) {
        let Some(witness) = &self.witness else { return };
        // SAFETY: the descriptor is only queried, which gives an error if it is closed, and is never closed from here.
        let number = unsafe { BorrowedFd::borrow_raw(self.number) };
        if is_same_file(witness.as_fd(), number).unwrap_or(false) {
            // SAFETY: the number still names the open file that was passed to us, so it has no other owner.
            drop(unsafe { OwnedFd::from_raw_fd(self.number) });
        }
    }
}

/// Tells whether two descriptors name one open file description. Device and inode cannot tell, because every handle of
/// one driver may have the same. Status flags belong to the description (`fcntl(2)`, `F_SETFL`), so a change through
/// one descriptor is visible through the other.
fn is_same_file(witness: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool> {
    let before = fcntl_getfl(witness)?;
    let mut same = fcntl_getfl(other)? == before;
    // Change the flag and change it back: by chance another file has the first value, but not both.
    for flags in [before ^ OFlags::NONBLOCK, before] {
        fcntl_setfl(witness, flags)?;
        same &= fcntl_getfl(other)? == fcntl_getfl(witness)?;
    }
    Ok(same)
}
