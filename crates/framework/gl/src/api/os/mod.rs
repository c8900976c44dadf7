//! Names of OpenGL's extensions for handles of the operating system on this platform.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

use std::ffi::CStr;

/// Returns a function's name for error messages.
pub(crate) const fn name(function: &'static CStr) -> &'static str {
    match function.to_str() {
        Ok(name) => name,
        Err(_) => "a function of an extension",
    }
}
