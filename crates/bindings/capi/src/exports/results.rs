//! Writes results to a caller's memory. Each function clears the place before it computes the result.

use crate::boundary::put;
use crate::failure::Result;
use crate::handles::Handle;
use crate::texts::give_text;
use serde::Serialize;
use std::ffi::c_char;
use std::ptr;

/// Makes a handle of the object.
///
/// # Safety
/// `to` is null, or may be written.
pub unsafe fn give<H: Handle>(to: *mut *mut H, what: &str, object: impl FnOnce() -> Result<H::Object>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { put(to, ptr::null_mut(), what, || H::insert(object()?)) }
}

/// Returns a text to the caller.
///
/// # Safety
/// `to` is null, or may be written.
pub unsafe fn say(to: *mut *mut c_char, what: &str, text: impl FnOnce() -> Result<String>) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { put(to, ptr::null_mut(), what, || Ok(give_text(text()?))) }
}

/// A value as JSON, for [`say`].
pub fn to_json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}
