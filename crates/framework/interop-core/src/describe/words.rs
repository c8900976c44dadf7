//! Counts with nouns, and strings for drivers.

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

/// Converts a text to a C string for drivers.
///
/// # Errors
/// [`Error::InvalidInput`] where the text contains a zero byte.
pub fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::refused("the kernel's text contains a zero byte"))
}
