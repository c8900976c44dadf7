//! Rust closures as the driver's callbacks. They run below functions of C, so they are called by
//! [`interop_core::describe::panics::contain`].

use std::ffi::c_void;

/// A closure that the driver calls once, on its own thread; `T` is its argument.
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
