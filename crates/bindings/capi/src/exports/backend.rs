//! Backends and kernels.

use crate::abi::*;
use crate::boundary::{array, out};
use crate::call::call;
use crate::exports::caller_structs::{backend_choice, source};
use crate::exports::results::{give, give_json};
use crate::failure::Result;
use crate::handles::{Handle as _, free};
use pixelferry::{KernelSource, open_backend};
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
            let kernels = array(kernels, kernel_count, "kernels")?.iter().map(|given| source(*given));
            let kernels = kernels.collect::<Result<Vec<KernelSource>>>()?;
            give(backend, open_backend(backend_choice(name)?, &kernels)?)
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
