//! An engine's function that tells whether its context is current.

use interop_core::describe::threads::this_thread;
use std::mem::ManuallyDrop;

/// An engine's function that tells whether its context is current on the calling thread.
pub enum CurrentCheck {
    /// Called on the thread that makes the display. On others, the context counts as not current.
    OneThread(Box<dyn Fn() -> bool>),
    /// Called on every thread that uses the display.
    AnyThread(Box<dyn Fn() -> bool + Send + Sync>),
}

/// A [`CurrentCheck`] that any thread may hold. A function for one thread that is dropped on another is leaked.
pub(crate) struct EngineCheck {
    check: ManuallyDrop<CurrentCheck>,
    thread: usize,
}

// SAFETY: a function for one thread is called and dropped on that thread alone.
unsafe impl Send for EngineCheck {}
// SAFETY: as above.
unsafe impl Sync for EngineCheck {}

impl EngineCheck {
    pub(crate) fn new(check: CurrentCheck) -> Self {
        Self { check: ManuallyDrop::new(check), thread: this_thread() }
    }

    pub(crate) fn is_current(&self) -> bool {
        match &*self.check {
            CurrentCheck::OneThread(check) => self.thread == this_thread() && check(),
            CurrentCheck::AnyThread(check) => check(),
        }
    }
}

impl Drop for EngineCheck {
    fn drop(&mut self) {
        if self.thread == this_thread() || matches!(*self.check, CurrentCheck::AnyThread(_)) {
            // SAFETY: the function is not used after this.
            unsafe { ManuallyDrop::drop(&mut self.check) }
        }
    }
}
