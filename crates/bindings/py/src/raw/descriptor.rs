//! File descriptors, which Python has as numbers.

use crate::failure::Failure;
use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

/// Calls `work` with a duplicate. If that succeeds, closes the program's own descriptor; on an error the program keeps
/// it.
pub fn taken<R>(number: i64, work: impl FnOnce(OwnedFd) -> Result<R, Failure>) -> Result<R, Failure> {
    let raw = RawFd::try_from(number).ok().filter(|raw| *raw >= 0);
    let raw = raw.ok_or_else(|| Failure::Shape(format!("fd={number} is not a file descriptor")))?;
    // SAFETY: the number is only duplicated, which fails for one that is not open.
    let copy = unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned();
    let copy = copy.map_err(|error| Failure::Shape(format!("cannot use fd={number}: {error}")))?;
    let done = work(copy)?;
    // SAFETY: it is open, and the program gives it away, as the stubs say.
    drop(unsafe { OwnedFd::from_raw_fd(raw) });
    Ok(done)
}
