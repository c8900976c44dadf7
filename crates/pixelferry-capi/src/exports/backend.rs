//! Backends and kernels.

use crate::abi::*;
use crate::boundary::{out, put};
use crate::call::call;
use crate::exports::given::{backend_choice, display_choice, source, sources};
use crate::exports::results::{give, give_json};
use crate::handles::{Handle as _, free};
use pixelferry::{open_backend, open_backend_for_display, open_pair};
use std::ffi::c_char;
use std::ptr;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_backend_open(
    name: *const c_char,
    kernels: *const *const pf_kernel_source,
    kernel_count: usize,
    backend: *mut *mut pf_backend,
) -> pf_status {
    call("pf_backend_open", || {
        // SAFETY: the header's promise for pointers.
        unsafe {
            out(backend, ptr::null_mut(), "backend")?;
            let opened = open_backend(backend_choice(name)?, &sources(kernels, kernel_count)?)?;
            give(backend, opened)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_backend_open_for_display(
    name: *const c_char,
    kernels: *const *const pf_kernel_source,
    kernel_count: usize,
    display: *mut pf_display,
    backend: *mut *mut pf_backend,
) -> pf_status {
    call("pf_backend_open_for_display", || {
        // SAFETY: the header's promise for pointers.
        unsafe {
            out(backend, ptr::null_mut(), "backend")?;
            let screen = pf_display::get(display)?.display();
            let kernels = sources(kernels, kernel_count)?;
            let opened = open_backend_for_display(backend_choice(name)?, &kernels, screen.as_ref())?;
            give(backend, opened)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_open_pair(
    backend_name: *const c_char,
    display_name: *const c_char,
    kernels: *const *const pf_kernel_source,
    kernel_count: usize,
    backend: *mut *mut pf_backend,
    display: *mut *mut pf_display,
) -> pf_status {
    call("pf_open_pair", || {
        // SAFETY: the header's promise for pointers.
        unsafe {
            out(backend, ptr::null_mut(), "backend")?;
            out(display, ptr::null_mut(), "display")?;
            let kernels = sources(kernels, kernel_count)?;
            let (opened, screen) = open_pair(backend_choice(backend_name)?, display_choice(display_name)?, &kernels)?;
            let computes = pf_backend::insert(opened)?;
            put(display, pf_display::insert(screen)?);
            put(backend, computes);
            Ok(())
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_backend_json(backend: *mut pf_backend, json: *mut *mut c_char) -> pf_status {
    call("pf_backend_json", || {
        // SAFETY: the header's promise for pointers.
        unsafe {
            out(json, ptr::null_mut(), "json")?;
            give_json(json, pf_backend::get(backend)?.device())
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_backend_finish(backend: *mut pf_backend) -> pf_status {
    call("pf_backend_finish", || Ok(pf_backend::get(backend)?.finish()?))
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_backend_free(backend: *mut pf_backend) -> pf_status {
    call("pf_backend_free", || free(backend))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_kernel_build(
    backend: *mut pf_backend,
    given: *const pf_kernel_source,
    kernel: *mut *mut pf_kernel,
) -> pf_status {
    call("pf_kernel_build", || {
        // SAFETY: the header's promise for pointers.
        unsafe {
            out(kernel, ptr::null_mut(), "kernel")?;
            let built = pf_backend::get(backend)?.build(&source(given)?)?;
            give(kernel, built)
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_kernel_free(kernel: *mut pf_kernel) -> pf_status {
    call("pf_kernel_free", || free(kernel))
}
