//! Backends and kernels.

use crate::abi::*;
use crate::boundary::array;
use crate::call::call;
use crate::exports::caller_structs::{backend_choice, source};
use crate::exports::results::{give, say, to_json};
use crate::failure::Result;
use crate::handles::{Handle as _, free};
use pixelferry::{KernelSource, open_backend};
use std::ffi::c_char;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_backend_open(
    name: *const c_char,
    kernels: *const *const pf_kernel_source,
    kernel_count: usize,
    backend: *mut *mut pf_backend,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_backend_open", || unsafe {
        give(backend, "backend", || {
            let kernels = array(kernels, kernel_count, "kernels")?.iter().map(|given| source(*given));
            Ok(open_backend(backend_choice(name)?, &kernels.collect::<Result<Vec<KernelSource>>>()?)?)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_backend_json(backend: *mut pf_backend, json: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_backend_json", || unsafe { say(json, "json", || to_json(pf_backend::get(backend)?.device())) })
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
    // SAFETY: the header's promise for pointers.
    call("pf_kernel_build", || unsafe {
        give(kernel, "kernel", || Ok(pf_backend::get(backend)?.build(&source(given)?)?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_kernel_free(kernel: *mut pf_kernel) -> pf_status {
    call("pf_kernel_free", || free(kernel))
}
