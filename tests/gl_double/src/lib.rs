//! **A test double** of `cl_khr_gl_sharing`: a layer that the OpenCL loader puts before a driver without the extension
//! (`OPENCL_LAYERS`, ocl-icd 2.3 and the Khronos loader).
//!
//! It announces the extension and copies between GL objects and ordinary memory objects of the driver at each acquire and
//! release, through the GL context that is current. So the calls, their order, their errors and the pixels are real; what it
//! cannot show is how a real driver behaves. `PIXELFERRY_GL_DOUBLE=events` announces `cl_khr_gl_event`, too.
//!
//! It is stricter than drivers are: work with an object outside a turn, turns out of order, objects that are gone and
//! contexts that are not current give errors, and a line on standard error that begins with `GL DOUBLE`.

// It knows EGL and GLX; elsewhere the library is empty.
#![cfg(unix)]

mod calls;
mod dispatch;
mod gl;
mod objects;

use dispatch::{Dispatch, TARGET};
use std::ffi::c_void;

/// `CL_LAYER_API_VERSION` and its value, `CL_LAYER_NAME`.
const API_VERSION: (u32, u32) = (0x4240, 100);
const NAME: u32 = 0x4241;
const INVALID_VALUE: i32 = -30;

/// Returns what the loader asks before anything else (`cl_layer.h`).
///
/// # Safety
/// The pointers are null or valid for what the loader says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetLayerInfo(parameter: u32, bytes: usize, value: *mut c_void, found: *mut usize) -> i32 {
    let version = API_VERSION.1.to_ne_bytes();
    let answer: &[u8] = match parameter {
        p if p == API_VERSION.0 => &version,
        NAME => b"pixelferry's double of cl_khr_gl_sharing\0",
        _ => return INVALID_VALUE,
    };
    // SAFETY: the caller's promise.
    unsafe { dispatch::answer(answer, bytes, value, found) }
}

/// Takes the driver's functions and gives those with ours among them.
///
/// # Safety
/// `target` has `count` functions and lives as long as the process; the other pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayer(
    count: u32,
    target: *const *const c_void,
    count_found: *mut u32,
    layer: *mut *const *const c_void,
) -> i32 {
    if (count as usize) < dispatch::LAST + 1 || count_found.is_null() || layer.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let functions = std::slice::from_raw_parts(target, count as usize);
        let target = TARGET.get_or_init(|| Dispatch::new(functions));
        let ours: &'static mut [*const c_void] = Box::leak(functions.to_vec().into_boxed_slice());
        calls::put_into(ours);
        eprintln!("GL DOUBLE is in place before {} functions", target.len());
        count_found.write(count);
        layer.write(ours.as_ptr());
    }
    0
}
