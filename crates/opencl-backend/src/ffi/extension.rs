//! Functions of extensions. Loaders export them by address only, and opencl3 looks for exported names.

use super::{Failure, PlatformId};
use libloading::Library;
use opencl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

type GetAddress = unsafe extern "system" fn(platform: *mut c_void, name: *const c_char) -> *mut c_void;

/// The library that opencl3 has open, found in the same way and kept open as it keeps it.
fn library() -> Option<&'static Library> {
    const NAME: &str = if cfg!(target_os = "windows") {
        "OpenCL.dll"
    } else if cfg!(target_os = "macos") {
        "/System/Library/Frameworks/OpenCL.framework/OpenCL"
    } else {
        "libOpenCL.so.1"
    };
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let open = || {
        let named = std::env::var("OPENCL_DYLIB_PATH").unwrap_or_default();
        let names = named.split(';').filter(|name| !name.is_empty()).chain([NAME]);
        // SAFETY: opened before by opencl3, so nothing runs at loading that has not run already.
        names.map(|name| unsafe { Library::new(name) }).find_map(Result::ok)
    };
    LIBRARY.get_or_init(open).as_ref()
}

/// The address of a function that `platform`, or else the loader itself, has. That there is one says nothing: loaders
/// answer with stubs that jump to null where the driver has no such function. **Ask the device's extensions first.**
pub(super) fn address(platform: PlatformId, name: &'static CStr) -> Result<NonNull<c_void>, Failure> {
    let missing =
        Failure { operation: name.to_str().unwrap_or("an extension function"), code: DLOPEN_FUNCTION_NOT_AVAILABLE };
    let library = library().ok_or(missing)?;
    // SAFETY: the signature is that of OpenCL 1.2; the platform is live and the name ends with a NUL.
    let of_platform = unsafe {
        let get = library.get::<GetAddress>(b"clGetExtensionFunctionAddressForPlatform\0");
        get.ok().and_then(|get| NonNull::new(get(platform.0, name.as_ptr())))
    };
    let of_loader = || {
        // SAFETY: only the address is taken.
        unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) }.ok().and_then(|symbol| NonNull::new(*symbol))
    };
    of_platform.or_else(of_loader).ok_or(missing)
}

/// Looks a function up as a pointer of the named type.
macro_rules! function {
    ($platform:expr, $name:literal as $kind:ty) => {{
        let address = $crate::ffi::extension::address($platform, $name)?;
        // SAFETY: the type is that of the function in the extension's specification (checked where the type is named).
        unsafe { std::mem::transmute::<*mut std::ffi::c_void, $kind>(address.as_ptr()) }
    }};
}
pub(super) use function;
