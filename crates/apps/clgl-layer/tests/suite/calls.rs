//! OpenCL, EGL and OpenGL as a C program calls them: by their names in the libraries.

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{CString, c_char, c_void};
use std::sync::LazyLock;

pub type Raw = *mut c_void;

fn library(name: &str) -> Library {
    // SAFETY: what the system's libraries run when they are loaded is theirs.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) }.unwrap_or_else(|e| panic!("{name}: {e}"))
}

static OPENCL: LazyLock<Library> = LazyLock::new(|| library("libOpenCL.so.1"));
static EGL: LazyLock<Library> = LazyLock::new(|| library("libEGL.so.1"));

fn address(library: &Library, name: &str) -> *const c_void {
    // SAFETY: only the address is taken.
    *unsafe { library.get::<*const c_void>(name.as_bytes()) }.unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub fn cl_address(name: &str) -> *const c_void {
    address(&OPENCL, name)
}

pub fn egl_address(name: &str) -> *const c_void {
    address(&EGL, name)
}

pub fn gl_address(name: &str) -> *const c_void {
    let name = CString::new(name).unwrap();
    let find = egl_address("eglGetProcAddress");
    // SAFETY: EGL's function of that name.
    unsafe {
        let find = std::mem::transmute::<*const c_void, unsafe extern "C" fn(*const c_char) -> *const c_void>(find);
        find(name.as_ptr())
    }
}

/// Calls a function by its name and type.
macro_rules! call {
    ($find:ident $name:literal ($($kind:ty),*) $(-> $result:ty)?; $($value:expr),* $(,)?) => {{
        let address = $crate::calls::$find($name);
        assert!(!address.is_null(), "there is no {}", $name);
        type Function = unsafe extern "C" fn($($kind),*) $(-> $result)?;
        #[allow(clippy::macro_metavars_in_unsafe, reason = "the callers' values are of the function's types")]
        // SAFETY: a function of that name has that type; the callers give what it takes.
        unsafe {
            let function = std::mem::transmute::<*const std::ffi::c_void, Function>(address);
            function($($value),*)
        }
    }};
}
pub(crate) use call;
