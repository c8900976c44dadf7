//! Counts in sentences, and texts for drivers.

use super::error::{Error, Result};
use std::ffi::CString;
use std::fmt::Display;

/// Returns a count with its noun: "1 frame", "2 frames".
///
/// ```
/// use interop_core::describe::words::counted;
///
/// assert_eq!([0, 1, 2].map(|count| counted(count, "frame")), ["0 frames", "1 frame", "2 frames"]);
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Returns a text as drivers in C read it.
///
/// # Errors
/// [`Error::InvalidInput`] where it holds a zero byte.
pub fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::refused("a text of the kernel's holds a zero byte"))
}
