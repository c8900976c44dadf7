//! Locks that a panic elsewhere does not close, and waits that end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A poisoned lock holds no half-made state here: every change is one insertion or removal.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Longer than any program runs: clocks cannot count some times that a caller may give, such as [`Duration::MAX`].
const LONGEST: Duration = Duration::from_secs(1 << 32);

/// Tells when a wait that begins now is over.
pub(crate) fn until(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(LONGEST)
}
