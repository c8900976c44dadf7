//! File descriptors. A driver that imports one takes it; of those that it refuses, not every driver leaves all alone.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// Owns what the operating system calls memory or a semaphore; closed on drop.
pub type OsHandle = OwnedFd;

/// The same as drivers are told of it.
pub type RawOsHandle = RawFd;

/// No handle.
pub const NONE: RawOsHandle = -1;

/// What a driver gave out; `None` where it is no handle.
///
/// # Safety
/// It is open and the caller's alone, unless it is none.
pub unsafe fn own(raw: RawOsHandle) -> Option<OsHandle> {
    // SAFETY: the caller's promise.
    (raw >= 0).then(|| unsafe { OwnedFd::from_raw_fd(raw) })
}

/// A handle given to the driver. A descriptor is the driver's where it takes it, and in some of the cases where it does
/// not; so dropping this closes nothing.
#[derive(Debug)]
pub struct Lent {
    number: RawFd,
    file: Option<(u64, u64)>,
}

impl Lent {
    /// From here on the driver may take it.
    pub fn new(handle: OsHandle) -> Self {
        let number = handle.into_raw_fd();
        Self { number, file: file_behind(number) }
    }

    /// What the driver is told.
    pub fn number(&self) -> RawOsHandle {
        self.number
    }

    /// The same for APIs whose lists are of numbers (`cl_khr_external_memory`).
    pub fn property(&self) -> u64 {
        self.number as u64
    }

    /// After a refusal: closes the handle unless the driver has.
    pub fn close_if_left(self) {
        if self.file.is_some() && file_behind(self.number) == self.file {
            // SAFETY: open, and still the file that was given to us, so nobody else's.
            drop(unsafe { OwnedFd::from_raw_fd(self.number) });
        }
    }
}

/// Device and inode of an open descriptor.
fn file_behind(number: RawFd) -> Option<(u64, u64)> {
    // SAFETY: only asked about (`fstat`), which a closed descriptor answers with an error, and never closed from here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(number) });
    file.metadata().ok().map(|m| (m.dev(), m.ino()))
}
