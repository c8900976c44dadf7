//! Forks of this process, counted, and what is not dropped after one.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of this process: how many forks led from the one that loaded this library here, as far as anybody asked.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// Number of the process that opened drivers first; 0 where none has.
pub(super) static OPENED: AtomicU32 = AtomicU32::new(0);

/// The process that something was made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessMark(pub(super) u32);

impl ProcessMark {
    /// This process.
    pub fn here() -> Self {
        fork::watch();
        Self(NUMBER.load(Ordering::Relaxed))
    }

    /// True in the process in which it was made.
    pub fn is_here(self) -> bool {
        self.0 == NUMBER.load(Ordering::Relaxed)
    }
}

/// True where drivers were opened in a process from which this one was forked.
pub fn is_forked() -> bool {
    let opened = OPENED.load(Ordering::Relaxed);
    opened != 0 && opened != NUMBER.load(Ordering::Relaxed)
}

/// Something with threads of its own, or of a type from elsewhere that calls a driver when it is dropped. In a process forked
/// from the one that made it, it is leaked.
#[derive(Debug)]
pub struct ProcessOwned<T> {
    made: ProcessMark,
    object: ManuallyDrop<T>,
}

impl<T> ProcessOwned<T> {
    /// Of this process.
    pub fn new(object: T) -> Self {
        Self { made: ProcessMark::here(), object: ManuallyDrop::new(object) }
    }

    /// The process that made it.
    pub fn mark(&self) -> ProcessMark {
        self.made
    }
}

impl<T> Deref for ProcessOwned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T> DerefMut for ProcessOwned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl<T> Drop for ProcessOwned<T> {
    fn drop(&mut self) {
        if self.made.is_here() {
            // SAFETY: it is used no more.
            unsafe { ManuallyDrop::drop(&mut self.object) };
        }
    }
}

/// Ends a `Drop` that calls a driver, in a process forked from one that had opened drivers ([`is_forked`]).
#[macro_export]
macro_rules! leak_if_forked {
    () => {
        if $crate::describe::process::is_forked() {
            return;
        }
    };
}

#[cfg(unix)]
mod fork {
    use super::{NUMBER, Ordering};
    use std::sync::Once;

    /// Counts forks from now on. The system forgets the handler with the library that it lies in.
    pub(super) fn watch() {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(|| {
            // SAFETY: the handler touches one atomic number, which it may do in a child with threads missing.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }

    unsafe extern "C" fn in_child() {
        NUMBER.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(not(unix))]
mod fork {
    /// Processes do not fork here.
    pub(super) fn watch() {}
}
