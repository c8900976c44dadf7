//! Values that belong to the display's thread, for owners that may move to any thread.

use interop_core::{Error, Result};
use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The thread's number; 0 before it has one. Unlike the number in the standard library, it can be read until the
    /// thread has ended.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// Returns the calling thread's number, which no other thread ever has.
fn here() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if NUMBER.get() == 0 {
        NUMBER.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}

/// A display's thread. It also identifies the queue for the core.
pub(crate) struct Home {
    thread: u64,
    device: String,
    /// Values whose owners were dropped elsewhere.
    left: Mutex<Vec<AbandonedObject>>,
}

struct AbandonedObject(Box<dyn Any>);

// SAFETY: a value is used only on the home's thread (`Home::enter`). A home that is dropped elsewhere forgets the
// values.
unsafe impl Send for AbandonedObject {}

impl Home {
    /// Makes a home of the calling thread.
    pub(crate) fn here(device: String) -> Arc<Self> {
        Arc::new(Self { thread: here(), device, left: Mutex::default() })
    }

    fn is_here(&self) -> bool {
        here() == self.thread
    }

    /// Starts every call: returns an error on another thread, and drops the values that waited for this one.
    pub(crate) fn enter(&self) -> Result<()> {
        if !self.is_here() {
            let problem =
                format!("{} computes in the queue of a display; call on the thread of that display", self.device);
            return Err(Error::refused(problem));
        }
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        // Now, because a drop may call this again.
        drop(left);
        Ok(())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if !self.is_here() {
            for left in self.left.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
                std::mem::forget(left.0);
            }
        }
    }
}

/// A value of a display's thread. If it is dropped elsewhere, a later call on its thread drops the value.
pub(crate) struct AtHome<T: 'static> {
    value: ManuallyDrop<T>,
    home: Arc<Home>,
}

// SAFETY: any thread holds it, and the home's alone gets at the value.
unsafe impl<T> Send for AtHome<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtHome<T> {}

impl<T> AtHome<T> {
    /// Wraps a value. The calling thread must be the home's.
    pub(crate) fn new(home: &Arc<Home>, value: T) -> Result<Self> {
        home.enter()?;
        Ok(Self { value: ManuallyDrop::new(value), home: Arc::clone(home) })
    }

    /// Returns the value; an error on another thread.
    pub(crate) fn get(&self) -> Result<&T> {
        self.home.enter()?;
        Ok(&self.value)
    }
}

impl<T> Drop for AtHome<T> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: the value is not used after this.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        if self.home.is_here() {
            drop(value);
        } else {
            let left = AbandonedObject(Box::new(value));
            self.home.left.lock().unwrap_or_else(PoisonError::into_inner).push(left);
        }
    }
}
