//! Loads a context's functions.

use crate::api::version::{GlVersion, check_es_version, check_version};
use interop_core::{Error, Result};
use std::ffi::{CStr, c_void};

/// Returns a function by its name, or null.
pub(crate) type Loader<'a> = &'a mut dyn FnMut(&CStr) -> *const c_void;

/// Loads OpenGL or OpenGL ES, checking beforehand for conditions at which glow would panic.
///
/// # Safety
/// A context is current, and `load` returns its functions or null.
pub(crate) unsafe fn load_gl(load: Loader<'_>) -> Result<glow::Context> {
    // SAFETY: the caller's promise.
    unsafe { load_checked(load, |text| check_version(GlVersion::parse(text), text)) }
}

/// Loads the functions of OpenGL ES 3.1 or later.
///
/// # Safety
/// The conditions of [`load_gl`] hold.
pub(crate) unsafe fn load_es(load: Loader<'_>) -> Result<glow::Context> {
    // SAFETY: the caller's promise.
    unsafe { load_checked(load, check_es_version) }
}

/// # Safety
/// The conditions of [`load_gl`] hold.
unsafe fn load_checked(load: Loader<'_>, check: impl Fn(&str) -> Result<()>) -> Result<glow::Context> {
    type GetString = unsafe extern "system" fn(u32) -> *const std::ffi::c_char;
    let unavailable = |reason: String| Error::Unavailable {
        what: "OpenGL".into(),
        reason,
        hint: "Make a context of OpenGL 3.3 or OpenGL ES 3.0 (or later) current on this thread, and update the driver."
            .into(),
    };
    // SAFETY: null becomes `None`; else it is glGetString by the caller's promise.
    let get_string = unsafe { std::mem::transmute::<*const c_void, Option<GetString>>(load(c"glGetString")) };
    let get_string = get_string.ok_or_else(|| unavailable("the loader does not find glGetString".into()))?;
    for name in [glow::VERSION, glow::VENDOR, glow::RENDERER] {
        // SAFETY: glGetString returns null or a string that lives as long as the context.
        let text = unsafe {
            let text = get_string(name);
            if text.is_null() {
                return Err(unavailable("glGetString returned null: no context is current on this thread".into()));
            }
            CStr::from_ptr(text)
        };
        let text = text.to_str().map_err(|_| unavailable("the driver's version string is not UTF-8".into()))?;
        if name == glow::VERSION {
            check(text)?;
        }
    }
    #[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
    let load: Loader<'_> = &mut |name| super::call_counters::function(name, load(name));
    // SAFETY: the same promise; the version string was read and can be parsed.
    Ok(unsafe { glow::Context::from_loader_function_cstr(load) })
}
