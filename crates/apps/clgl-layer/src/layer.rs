//! The interface of the OpenCL loader for layers (`cl_layer.h`).

use crate::calls;
use crate::cl::driver::Driver;
use crate::codes::INVALID_VALUE;
use crate::edge::{InfoRoom, code};
use std::ffi::c_void;

const API_VERSION: u32 = 0x4240;
const API_VERSION_100: u32 = 100;
const NAME: u32 = 0x4241;
/// Number of functions in the tables of loaders for OpenCL 3.0: up to `clSetContextDestructorCallback`.
const FEWEST: usize = 149;

/// Answers the loader's first query (`cl_loader_layers`).
///
/// # Errors
/// `CL_INVALID_VALUE` for another parameter, or a buffer that is too small.
///
/// # Safety
/// The pointers are null or valid as the loader specifies.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clGetLayerInfo(parameter: u32, bytes: usize, value: *mut c_void, found: *mut usize) -> i32 {
    let version = API_VERSION_100.to_ne_bytes();
    code(|| {
        let answer: &[u8] = match parameter {
            API_VERSION => &version,
            NAME => b"pixelferry's cl_khr_gl_sharing\0",
            _ => return Err(INVALID_VALUE),
        };
        // SAFETY: the caller's promise.
        unsafe { InfoRoom { bytes, value, found }.answer(answer) }
    })
}

/// Takes the functions behind the layer, and returns a table with the layer's own among them (`cl_loader_layers`).
///
/// # Errors
/// `CL_INVALID_VALUE` for a null pointer, or a table older than OpenCL 3.0's.
///
/// # Safety
/// `target` has `count` functions and lives as long as the process; the other pointers are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayer(
    count: u32,
    target: *const *const c_void,
    count_found: *mut u32,
    layer: *mut *const *const c_void,
) -> i32 {
    code(|| {
        if (count as usize) < FEWEST || target.is_null() || count_found.is_null() || layer.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller's promise. The table is leaked: the loader keeps it.
        unsafe {
            let functions = std::slice::from_raw_parts(target, count as usize);
            Driver::install(functions)?;
            let table: &'static mut [*const c_void] = Box::leak(functions.to_vec().into_boxed_slice());
            calls::put_into(table);
            count_found.write(count);
            layer.write(table.as_ptr());
        }
        Ok(())
    })
}

/// Like [`clInitLayer`]; Khronos's loader requires it. There are no properties yet.
///
/// # Errors
/// As [`clInitLayer`].
///
/// # Safety
/// As [`clInitLayer`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clInitLayerWithProperties(
    count: u32,
    target: *const *const c_void,
    count_found: *mut u32,
    layer: *mut *const *const c_void,
    _properties: *const u64,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { clInitLayer(count, target, count_found, layer) }
}

/// Ends the layer's work (`cl_loader_layers`). Contexts that the program did not release are freed with the process.
#[unsafe(no_mangle)]
pub extern "C" fn clDeinitLayer() -> i32 {
    0
}
