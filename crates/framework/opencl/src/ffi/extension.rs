//! Functions of extensions. Loaders export them by address only, and opencl3 looks for exported names.

use super::{Failure, PlatformId};
use interop_core::devices::library;
use libloading::Library;
use opencl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

type GetAddress = unsafe extern "system" fn(platform: *mut c_void, name: *const c_char) -> *mut c_void;

/// The library that opencl3 has open, found in the same way and kept open as it keeps it; or why it has none.
fn library() -> Result<&'static Library, &'static str> {
    const NAME: &str = if cfg!(target_os = "windows") {
        "OpenCL.dll"
    } else if cfg!(target_os = "macos") {
        "/System/Library/Frameworks/OpenCL.framework/OpenCL"
    } else {
        "libOpenCL.so.1"
    };
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    let open = || {
        let named = std::env::var("OPENCL_DYLIB_PATH").unwrap_or_default();
        let names = named.split(';').filter(|name| !name.is_empty()).chain([NAME]);
        // SAFETY: the OpenCL library, which opencl3 opens or has opened, and which is never closed.
        unsafe { library::open(names) }
    };
    LIBRARY.get_or_init(open).as_ref().map_err(String::as_str)
}

/// Returns what the system's loader says where libOpenCL does not open.
pub fn why_no_library() -> Option<&'static str> {
    library().err()
}

/// The address of a function that `platform`, or else the loader itself, has. That there is one says nothing: loaders
/// answer with stubs that jump to null where the driver has no such function. **Ask the device's extensions first.**
pub fn find(platform: PlatformId, name: &CStr) -> Option<NonNull<c_void>> {
    let library = library().ok()?;
    // SAFETY: the signature is that of OpenCL 1.2; the platform is live and the name ends with a NUL.
    let of_platform = unsafe {
        let get = library.get::<GetAddress>(b"clGetExtensionFunctionAddressForPlatform\0");
        get.ok().and_then(|get| NonNull::new(get(platform.0, name.as_ptr())))
    };
    let of_loader = || {
        // SAFETY: only the address is taken.
        unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) }.ok().and_then(|symbol| NonNull::new(*symbol))
    };
    of_platform.or_else(of_loader)
}

/// The address of a function that must be there, or a failure that names it.
pub(crate) fn address(platform: PlatformId, name: &'static CStr) -> Result<NonNull<c_void>, Failure> {
    let operation = name.to_str().unwrap_or("an extension function");
    find(platform, name).ok_or(Failure { operation, code: DLOPEN_FUNCTION_NOT_AVAILABLE })
}

/// Looks a function up as a pointer of the named type.
macro_rules! function {
    ($platform:expr, $name:literal as $kind:ty) => {{
        let address = $crate::ffi::extension::address($platform, $name)?;
        // SAFETY: the type is that of the function in the extension's specification (checked where the type is named).
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $kind>(address.as_ptr()) }
    }};
}
pub(crate) use function;
