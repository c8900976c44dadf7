//! Descriptors given to a driver, which not every driver closes in the same cases.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// A descriptor given to the driver, which closes it where it takes it, and in some of the cases where it does not.
#[derive(Debug)]
pub struct Lent {
    number: RawFd,
    file: Option<(u64, u64)>,
}

impl Lent {
    /// From here on the driver may take it.
    pub fn new(fd: OwnedFd) -> Self {
        let number = fd.into_raw_fd();
        Self { number, file: file_behind(number) }
    }

    /// What the driver is told.
    pub fn number(&self) -> RawFd {
        self.number
    }

    /// After a refusal: closes the descriptor unless the driver has.
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
