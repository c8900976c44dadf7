//! The boundary to C: no panic crosses it, and results are written as OpenCL specifies.

use crate::codes::{INVALID_VALUE, OUT_OF_HOST_MEMORY};
use std::ffi::c_void;
use std::panic::AssertUnwindSafe;

/// A handle or pointer as OpenCL passes it.
pub type Raw = *mut c_void;

/// Runs `f`; a panic becomes an error.
#[expect(clippy::disallowed_methods, reason = "what the panic carries is never dropped")]
pub fn caught<T>(f: impl FnOnce() -> Result<T, i32>) -> Result<T, i32> {
    std::panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|carried| {
        std::mem::forget(carried);
        Err(OUT_OF_HOST_MEMORY)
    })
}

/// Returns the code of a function that returns only a code.
pub fn code(f: impl FnOnce() -> Result<(), i32>) -> i32 {
    caught(f).err().unwrap_or(0)
}

/// Returns the handle of a function that returns a handle, and stores its code if the program wants it.
///
/// # Safety
/// `code` is null or valid.
pub unsafe fn handle(code: *mut i32, f: impl FnOnce() -> Result<Raw, i32>) -> Raw {
    let (handle, answer) = match caught(f) {
        Ok(handle) => (handle, 0),
        Err(code) => (std::ptr::null_mut(), code),
    };
    // SAFETY: the caller's promise.
    unsafe { put(code, answer) };
    handle
}

/// Writes a value unless the pointer is null.
///
/// # Safety
/// `to` is null or valid.
pub unsafe fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller's promise.
        unsafe { to.write(value) };
    }
}

/// A program's buffer for the answer of a `clGet...Info`.
#[derive(Clone, Copy)]
pub struct InfoRoom {
    pub bytes: usize,
    pub value: Raw,
    pub found: *mut usize,
}

impl InfoRoom {
    /// Writes an answer.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` if the buffer is too small.
    ///
    /// # Safety
    /// `value` is null or has room for `bytes`, `found` is null or valid.
    pub unsafe fn answer(self, answer: &[u8]) -> Result<(), i32> {
        if !self.value.is_null() && self.bytes < answer.len() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller's promise, and there is room enough.
        unsafe {
            if !self.value.is_null() {
                std::ptr::copy_nonoverlapping(answer.as_ptr(), self.value.cast(), answer.len());
            }
            put(self.found, answer.len());
        }
        Ok(())
    }
}

/// A list that a program passes as count and address.
///
/// # Safety
/// `list` is null or has `count` entries, which live as long as the result is used.
pub unsafe fn list<'a, T>(count: u32, list: *const T) -> &'a [T] {
    if list.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(list, count as usize) }
}
