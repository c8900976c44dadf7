//! File descriptors, which Python has as numbers.

use crate::failure::Failure;
use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

/// Gives a duplicate to `work`. Where that succeeds the program's own is closed; on an error it stays the program's.
pub fn taken<R>(number: i64, work: impl FnOnce(OwnedFd) -> Result<R, Failure>) -> Result<R, Failure> {
    let raw = RawFd::try_from(number).ok().filter(|raw| *raw >= 0);
    let raw = raw.ok_or_else(|| Failure::Shape(format!("fd={number} is no file descriptor")))?;
    // SAFETY: it is only duplicated, to which a number that is not open is an error.
    let copy = unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned();
    let copy = copy.map_err(|error| Failure::Shape(format!("fd={number} cannot be taken: {error}")))?;
    let done = work(copy)?;
    // SAFETY: it is open, and the program gives it away, as the stubs say.
    drop(unsafe { OwnedFd::from_raw_fd(raw) });
    Ok(done)
}
