//! Rust closures as the driver's callbacks. A panic must not unwind into the driver, which is C.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A closure that the driver calls once, from a thread of its own; `T` is what it is told.
pub type Callback<T> = Box<dyn FnOnce(T) + Send>;

/// A closure as the address that goes through the driver.
pub fn into_user_data<T>(callback: Callback<T>) -> *mut c_void {
    // Boxed again: a pointer to a closure of unknown type is two words.
    Box::into_raw(Box::new(callback)).cast()
}

/// # Safety
/// `user_data` must come from [`into_user_data`] with the same `T`, and is used up.
pub unsafe fn from_user_data<T>(user_data: *mut c_void) -> Callback<T> {
    // SAFETY: the caller's promise.
    *unsafe { Box::from_raw(user_data.cast::<Callback<T>>()) }
}

/// Calls user code; a panic is logged.
pub fn contained(what: &'static str, f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let message = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let message = message.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        // Neither a subscriber nor the payload's own drop may unwind from here either.
        let _ = catch_unwind(|| tracing::error!("a {what} panicked: {message}"));
        std::mem::forget(payload);
    }
}
