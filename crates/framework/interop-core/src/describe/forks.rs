//! Counts forks of this process, and keeps objects of the parent process from being dropped in a child.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of this process: how many forks lie between it and the process that loaded this library, counted from the
/// first check on.
static NUMBER: AtomicU32 = AtomicU32::new(1);

/// Number of the process that opened drivers first; 0 where no process has.
pub(super) static OPENED: AtomicU32 = AtomicU32::new(0);

/// Identifies the process in which an object was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessMark(pub(super) u32);

impl ProcessMark {
    /// The calling process.
    pub fn here() -> Self {
        fork::watch();
        Self(NUMBER.load(Ordering::Relaxed))
    }

    /// True in the process in which the mark was made.
    pub fn is_here(self) -> bool {
        self.0 == NUMBER.load(Ordering::Relaxed)
    }
}

/// True where a process from which this one was forked had opened drivers.
pub fn is_forked() -> bool {
    let opened = OPENED.load(Ordering::Relaxed);
    opened != 0 && opened != NUMBER.load(Ordering::Relaxed)
}

/// An object with threads of its own, or of a foreign type that calls a driver when it is dropped. In a process that
/// was forked from the one that made it, the object is leaked instead of dropped.
#[derive(Debug)]
pub struct ForkGuard<T> {
    made: ProcessMark,
    object: ManuallyDrop<T>,
}

impl<T> ForkGuard<T> {
    /// Takes an object of the calling process.
    pub fn new(object: T) -> Self {
        Self { made: ProcessMark::here(), object: ManuallyDrop::new(object) }
    }

    /// Returns the mark of the process that made the object.
    pub fn mark(&self) -> ProcessMark {
        self.made
    }
}

impl<T> Deref for ForkGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T> DerefMut for ForkGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl<T> Drop for ForkGuard<T> {
    fn drop(&mut self) {
        if self.made.is_here() {
            // SAFETY: the object is not used again.
            unsafe { ManuallyDrop::drop(&mut self.object) };
        }
    }
}

/// Returns early from a `Drop` that calls a driver, in a process forked from one that had opened drivers
/// ([`is_forked`]).
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

    /// Starts counting forks. The system removes the handler when it unloads this library.
    pub(super) fn watch() {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(|| {
            // SAFETY: the handler changes one atomic number, which is allowed in a child whose other threads are
            // missing.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }

    unsafe extern "C" fn in_child() {
        NUMBER.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(not(unix))]
mod fork {
    /// Does nothing: this system does not fork processes.
    pub(super) fn watch() {}
}
