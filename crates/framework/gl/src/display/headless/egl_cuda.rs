//! CUDA device of an EGL device: `EGL_NV_device_cuda`.

use glutin::api::egl::device::Device;
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

/// `EGL_CUDA_DEVICE_NV`.
const CUDA_DEVICE: i32 = 0x323A;

type GetProcAddress = unsafe extern "system" fn(name: *const c_char) -> *const c_void;
type QueryDeviceAttrib = unsafe extern "system" fn(device: *const c_void, attribute: i32, value: *mut isize) -> u32;

/// Returns CUDA's number of the device in this process; `None` where the driver does not report it.
pub(super) fn ordinal(device: &Device) -> Option<u32> {
    if !device.extensions().contains("EGL_NV_device_cuda") {
        return None;
    }
    let query = query_function()?;
    let mut value = -1;
    // SAFETY: the device is one that EGL listed (they are never freed) and has the extension; one value is written.
    let found = unsafe { query(device.raw_device(), CUDA_DEVICE, &raw mut value) };
    if found == 0 { None } else { u32::try_from(value).ok() }
}

/// Returns `eglQueryDeviceAttribEXT`, which glutin does not expose.
fn query_function() -> Option<QueryDeviceAttrib> {
    const NAME: &CStr = c"eglQueryDeviceAttribEXT";
    static FUNCTION: OnceLock<Option<QueryDeviceAttrib>> = OnceLock::new();
    *FUNCTION.get_or_init(|| {
        // SAFETY: EGL was already loaded from this library; opening it again only counts the reference.
        let library = unsafe { Library::new("libEGL.so.1") }.ok()?;
        // SAFETY: the function's signature in EGL 1.5; it takes a name and gives an address or null, and a null becomes
        // `None`. `EGL_EXT_device_query` gives the other.
        let query = unsafe {
            let load = library.get::<GetProcAddress>(b"eglGetProcAddress").ok()?;
            std::mem::transmute::<*const c_void, Option<QueryDeviceAttrib>>(load(NAME.as_ptr()))
        };
        // The address stays valid for as long as the process runs.
        std::mem::forget(library);
        query
    })
}
