//! Writes results to a caller's memory.

use crate::boundary::put;
use crate::failure::Result;
use crate::handles::Handle;
use crate::texts::give_text;
use serde::Serialize;
use std::ffi::c_char;

/// Makes a handle and writes it to a place that `boundary::out` checked.
///
/// # Safety
/// `boundary::out` accepted `out`.
pub unsafe fn give<H: Handle>(out: *mut *mut H, object: H::Object) -> Result<()> {
    let handle = H::insert(object)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, handle) };
    Ok(())
}

/// Returns a text to the caller.
///
/// # Safety
/// `boundary::out` accepted `to`.
pub unsafe fn say(to: *mut *mut c_char, text: String) {
    // SAFETY: the caller's promise.
    unsafe { put(to, give_text(text)) };
}

/// Returns a value to the caller as JSON.
///
/// # Safety
/// `boundary::out` accepted `to`.
pub unsafe fn give_json(to: *mut *mut c_char, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value)?;
    // SAFETY: the caller's promise.
    unsafe { say(to, text) };
    Ok(())
}
