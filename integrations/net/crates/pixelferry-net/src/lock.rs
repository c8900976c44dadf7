//! Locks that ignore poisoning, and waits with an end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A poisoned lock contains no incomplete state here: every change is one insertion or removal.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Longer than any program runs: clocks cannot represent some times that a caller may pass, such as [`Duration::MAX`].
const LONGEST: Duration = Duration::from_secs(1 << 32);

/// Returns when a wait that begins now ends.
pub(crate) fn until(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(LONGEST)
}
