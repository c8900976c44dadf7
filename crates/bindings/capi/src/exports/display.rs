//! Displays.

use crate::abi::*;
use crate::call::call;
use crate::exports::caller_structs::display_choice;
use crate::exports::results::{give, say, to_json};
use crate::failure::Result;
use crate::handles::{Handle as _, free};
use pixelferry::open_headless;
use std::ffi::{c_char, c_void};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_display_open(name: *const c_char, display: *mut *mut pf_display) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_display_open", || unsafe { give(display, "display", || Ok(open_headless(display_choice(name)?)?)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_display_from_current_gl(
    options: *const pf_gl_options,
    display: *mut *mut pf_display,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the context.
    call("pf_display_from_current_gl", || unsafe { give(display, "display", || engine::from_current(options)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_display_from_gl_loader(
    get_proc: pf_get_proc_function,
    user: *mut c_void,
    options: *const pf_gl_options,
    display: *mut *mut pf_display,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the context and its functions.
    call("pf_display_from_gl_loader", || unsafe {
        give(display, "display", || engine::from_loader((get_proc, user), options))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_display_make_current(display: *mut pf_display) -> pf_status {
    call("pf_display_make_current", || engine::make_current(&pf_display::get(display)?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_display_gl_context_lost(display: *mut pf_display) -> pf_status {
    // SAFETY: the header's promise for lost contexts.
    call("pf_display_gl_context_lost", || unsafe { engine::context_lost(&pf_display::get(display)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_display_finish(display: *mut pf_display) -> pf_status {
    call("pf_display_finish", || Ok(pf_display::get(display)?.display().finish()?))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_display_json(display: *mut pf_display, json: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_display_json", || unsafe { say(json, "json", || to_json(pf_display::get(display)?.display().device())) })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_display_free(display: *mut pf_display) -> pf_status {
    call("pf_display_free", || free(display))
}

/// Contexts of an engine's.
#[cfg(feature = "gl")]
mod engine {
    use super::*;
    use crate::boundary::optional_structure;
    use crate::failure::Failure;
    use pixelferry::HeadlessDisplay;
    use pixelferry::api::gl::{CurrentCheck, EngineOptions, GlDisplay};
    use std::ffi::CStr;

    /// # Safety
    /// The header's promises for `pf_gl_options`.
    unsafe fn options(given: *const pf_gl_options) -> Result<EngineOptions> {
        // SAFETY: the caller's promise.
        let given = unsafe { optional_structure(given) }?;
        let user = given.is_current_user;
        let is_current = given.is_current.map(|function| {
            // SAFETY: the header asks for a function that may be called with `user` for as long as the display lives.
            CurrentCheck::OneThread(Box::new(move || unsafe { function(user) } != 0))
        });
        let version_limit = (given.version_major != 0).then_some((given.version_major, given.version_minor));
        let mut options = EngineOptions::default().with_version_limit(version_limit);
        options.is_current = is_current;
        Ok(options)
    }

    /// # Safety
    /// The promises of [`GlDisplay::from_current`], and the header's promises for `pf_gl_options`.
    pub unsafe fn from_current(given: *const pf_gl_options) -> Result<HeadlessDisplay> {
        // SAFETY: the caller's promise.
        unsafe { Ok(GlDisplay::from_current(options(given)?)?.into()) }
    }

    /// # Safety
    /// The promises of [`GlDisplay::from_loader`], and the header's promises for `pf_gl_options`.
    pub unsafe fn from_loader(
        (get_proc, user): (pf_get_proc_function, *mut c_void),
        given: *const pf_gl_options,
    ) -> Result<HeadlessDisplay> {
        let get_proc = get_proc
            .ok_or_else(|| Failure::argument("get_proc is NULL; pf_display_from_current_gl does not need it"))?;
        // SAFETY: the caller's promise.
        unsafe {
            let load = |name: &CStr| get_proc(user, name.as_ptr()).cast_const();
            Ok(GlDisplay::from_loader(load, options(given)?)?.into())
        }
    }

    /// Does nothing for a display without a context.
    pub fn make_current(display: &HeadlessDisplay) -> Result<()> {
        Ok(display.gl().map_or(Ok(()), |gl| gl.make_current())?)
    }

    /// # Safety
    /// The promises of [`GlDisplay::context_lost`].
    pub unsafe fn context_lost(display: &HeadlessDisplay) -> Result<()> {
        let gl = display.gl().ok_or_else(|| Failure::argument("this display has no OpenGL context"))?;
        // SAFETY: the caller's promise.
        unsafe { gl.context_lost() };
        Ok(())
    }
}

#[cfg(not(feature = "gl"))]
mod engine {
    use super::*;
    use crate::failure::{Failure, absent};
    use pixelferry::HeadlessDisplay;

    absent! {
        Failure::not_built_in("gl");
        [unsafe] from_current(*const pf_gl_options) -> HeadlessDisplay;
        [unsafe] from_loader((pf_get_proc_function, *mut c_void), *const pf_gl_options) -> HeadlessDisplay;
        [unsafe] context_lost(&HeadlessDisplay) -> ();
    }

    pub fn make_current(_: &HeadlessDisplay) -> Result<()> {
        Ok(())
    }
}
