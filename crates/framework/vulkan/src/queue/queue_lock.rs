//! Exclusive access of the display to an engine's queue.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Gives the display exclusive access to a queue during one `vkQueueSubmit`: Vulkan requires that only one thread at a
/// time uses a queue.
///
/// | users of the queue | the lock |
/// |---|---|
/// | the display, and other code only while no thread uses the display or its links | `()` |
/// | threads that lock a mutex for each use | an `Arc` of that [`Mutex`] |
/// | an engine with locks of its own | a closure that calls its argument, or [`CLock`] |
///
/// During the call, the display holds no lock of its own, does not wait, and calls no code of the engine.
pub trait QueueLock: Send + Sync {
    /// Calls `submit` once, while no other code uses the queue. It must not use a display.
    fn with(&self, submit: &mut dyn FnMut());
}

impl QueueLock for () {
    fn with(&self, submit: &mut dyn FnMut()) {
        submit();
    }
}

impl<T: Send> QueueLock for std::sync::Arc<Mutex<T>> {
    fn with(&self, submit: &mut dyn FnMut()) {
        // The data behind the mutex is the engine's; the queue is usable after a panic.
        let _held = self.lock().unwrap_or_else(PoisonError::into_inner);
        submit();
    }
}

impl<F: Fn(&mut dyn FnMut()) + Send + Sync> QueueLock for F {
    fn with(&self, submit: &mut dyn FnMut()) {
        self(submit);
    }
}

/// A lock by two C functions.
#[derive(Debug, Clone, Copy)]
pub struct CLock {
    lock: unsafe extern "C" fn(*mut c_void),
    unlock: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

// SAFETY: the promise of `new` holds on every thread.
unsafe impl Send for CLock {}
// SAFETY: as above.
unsafe impl Sync for CLock {}

impl CLock {
    /// Wraps the two functions. Both are called with `data`, in turn, on each thread that uses the display.
    ///
    /// # Safety
    /// Both are sound to call with `data` as long as the display and its objects live, and neither unwinds.
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
