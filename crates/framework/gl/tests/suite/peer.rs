//! A second opener of a semaphore: GL functions called by name, as a program that knows nothing of this crate would.

use interop_core::{SharedHandle, SyncKind};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::IntoRawFd;

type Names = unsafe extern "system" fn(count: i32, names: *mut u32);
type Integer = unsafe extern "system" fn(semaphore: u32, parameter: u32, values: *const i32);
type Integer64 = unsafe extern "system" fn(semaphore: u32, parameter: u32, values: *const u64);
type ImportFd = unsafe extern "system" fn(semaphore: u32, handle_type: u32, fd: c_int);
type Barrier = unsafe extern "system" fn(u32, u32, *const u32, u32, *const u32, *const u32);

const OPAQUE_FD: u32 = 0x9586;
const LAYOUT_GENERAL: u32 = 0x958D;
const SEMAPHORE_TYPE: u32 = 0x95B3;
const TIMELINE: i32 = 0x95B5;
const TIMELINE_VALUE: u32 = 0x9595;

/// A semaphore of the context that was current when it was opened. Call it with that context current only.
pub struct Peer {
    name: u32,
    timeline: bool,
}

fn function(name: &CStr) -> *const c_void {
    type GetProcAddress = unsafe extern "system" fn(*const c_char) -> *const c_void;
    // SAFETY: the library is that of the displays, open already; the signature is that of EGL 1.5.
    let address = unsafe {
        let library = Library::new("libEGL.so.1").unwrap();
        let address = library.get::<GetProcAddress>(b"eglGetProcAddress").unwrap()(name.as_ptr());
        std::mem::forget(library);
        address
    };
    assert!(!address.is_null(), "{name:?}");
    address
}

macro_rules! gl {
    ($name:literal as $ty:ty) => {
        std::mem::transmute::<*const c_void, $ty>(function($name))
    };
}

impl Peer {
    pub fn open(handle: SharedHandle) -> Self {
        let SharedHandle::Semaphore(handle) = handle else { panic!("{handle:?}") };
        let (timeline, mut name) = (handle.kind() == SyncKind::TimelineSemaphore, 0);
        // SAFETY: a context is current that lists the extensions (the tests ask); signatures are of their
        // specifications.
        unsafe {
            if timeline {
                gl!(c"glCreateSemaphoresNV" as Names)(1, &mut name);
                gl!(c"glSemaphoreParameterivNV" as Integer)(name, SEMAPHORE_TYPE, &TIMELINE);
            } else {
                gl!(c"glGenSemaphoresEXT" as Names)(1, &mut name);
            }
            gl!(c"glImportSemaphoreFdEXT" as ImportFd)(name, OPAQUE_FD, handle.into_handle().into_raw_fd());
        }
        Self { name, timeline }
    }

    /// Lets the context wait.
    pub fn wait(&self, value: u64, texture: glow::Texture) {
        self.cross(c"glWaitSemaphoreEXT", value, texture);
    }

    /// Signals after all that the context was told, and flushes.
    pub fn signal(&self, value: u64, texture: glow::Texture) {
        self.cross(c"glSignalSemaphoreEXT", value, texture);
        // SAFETY: a context is current.
        unsafe { gl!(c"glFlush" as unsafe extern "system" fn())() }
    }

    fn cross(&self, operation: &CStr, value: u64, texture: glow::Texture) {
        let none = std::ptr::null();
        // SAFETY: the context is current and both names are of it; each list is as long as its count says.
        unsafe {
            if self.timeline {
                gl!(c"glSemaphoreParameterui64vEXT" as Integer64)(self.name, TIMELINE_VALUE, &value);
            }
            let call = std::mem::transmute::<*const c_void, Barrier>(function(operation));
            call(self.name, 0, none, 1, &texture.0.get(), &LAYOUT_GENERAL);
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: the context is current; the name is deleted once. The function reads one name.
        unsafe { gl!(c"glDeleteSemaphoresEXT" as Names)(1, &mut self.name) }
    }
}
