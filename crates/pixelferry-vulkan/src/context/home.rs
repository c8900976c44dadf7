//! What stays on the display's thread, in the hands of what may go to any.

use interop_core::{Error, Result};
use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The thread's number, 0 before it has one. Unlike that of the standard library it is there until the thread has ended.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// The calling thread's number, which no other thread ever has.
fn here() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if NUMBER.get() == 0 {
        NUMBER.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}

/// A display's thread. It is the queue, too, as the core tells queues apart.
pub(crate) struct Home {
    thread: u64,
    device: String,
    /// Values whose owners were dropped elsewhere.
    left: Mutex<Vec<Left>>,
}

struct Left(Box<dyn Any>);

// SAFETY: one is opened on the home's thread alone (`Home::enter`). A home that goes elsewhere forgets them.
unsafe impl Send for Left {}

impl Home {
    /// The calling thread.
    pub(crate) fn here(device: String) -> Arc<Self> {
        Arc::new(Self { thread: here(), device, left: Mutex::default() })
    }

    fn is_here(&self) -> bool {
        here() == self.thread
    }

    /// The start of every call: refused on another thread. Drops what waited for it.
    pub(crate) fn enter(&self) -> Result<()> {
        if !self.is_here() {
            let problem =
                format!("{} computes in the queue of a display; call on the thread of that display", self.device);
            return Err(Error::refused(problem));
        }
        let left = std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner));
        // Now, as the end of one may come back here.
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

/// A value of a display's thread. What is dropped elsewhere is dropped by a later call there.
pub(crate) struct AtHome<T: 'static> {
    value: ManuallyDrop<T>,
    home: Arc<Home>,
}

// SAFETY: any thread holds it, and the home's alone gets at the value.
unsafe impl<T> Send for AtHome<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for AtHome<T> {}

impl<T> AtHome<T> {
    /// A value that the calling thread has, which is the home's.
    pub(crate) fn new(home: &Arc<Home>, value: T) -> Result<Self> {
        home.enter()?;
        Ok(Self { value: ManuallyDrop::new(value), home: Arc::clone(home) })
    }

    /// The value, at home.
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
            let left = Left(Box::new(value));
            self.home.left.lock().unwrap_or_else(PoisonError::into_inner).push(left);
        }
    }
}
