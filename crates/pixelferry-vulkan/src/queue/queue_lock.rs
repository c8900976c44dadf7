//! Exclusive access of the display to an engine's queue.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Gives the display a queue for itself, for the length of one `vkQueueSubmit`: Vulkan wants a queue to be used by one thread at
/// a time.
///
/// | who uses the queue | the lock |
/// |---|---|
/// | the display alone, or nobody but its thread | `()` |
/// | threads that hold a mutex meanwhile | an `Arc` of that [`Mutex`] |
/// | an engine with locks of its own | a closure that calls what it is given, or [`CLock`] |
///
/// The display holds no lock of its own then, waits for nothing, and calls nothing of the engine's.
pub trait QueueLock {
    /// Calls `submit` once, while nobody else uses the queue. Uses no display.
    fn with(&self, submit: &mut dyn FnMut());
}

impl QueueLock for () {
    fn with(&self, submit: &mut dyn FnMut()) {
        submit();
    }
}

impl<T> QueueLock for std::sync::Arc<Mutex<T>> {
    fn with(&self, submit: &mut dyn FnMut()) {
        // Data that a panic left behind is the engine's; the queue is as good as before.
        let _held = self.lock().unwrap_or_else(PoisonError::into_inner);
        submit();
    }
}

impl<F: Fn(&mut dyn FnMut())> QueueLock for F {
    fn with(&self, submit: &mut dyn FnMut()) {
        self(submit);
    }
}

/// A lock by two functions of C.
#[derive(Debug, Clone, Copy)]
pub struct CLock {
    lock: unsafe extern "C" fn(*mut c_void),
    unlock: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

impl CLock {
    /// Both functions are called with `data`, in turns, on the display's thread.
    ///
    /// # Safety
    /// Both are sound to call with `data` as long as the display and what it made live, and neither unwinds.
    pub const unsafe fn new(
        lock: unsafe extern "C" fn(*mut c_void),
        unlock: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Self {
        Self { lock, unlock, data }
    }
}

impl QueueLock for CLock {
    fn with(&self, submit: &mut dyn FnMut()) {
        // SAFETY: the promise of `new`.
        unsafe { (self.lock)(self.data) };
        submit();
        // SAFETY: as above.
        unsafe { (self.unlock)(self.data) };
    }
}
