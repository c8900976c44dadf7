//! Semaphores that another API made: `GL_EXT_semaphore` with `GL_EXT_semaphore_fd` or `_win32`, and
//! `GL_NV_timeline_semaphore`.

use crate::api::functions::functions;
use crate::api::os;
use interop_core::devices::os_handle::RawOsHandle;
use std::ffi::{CStr, c_void};
use std::num::NonZeroU32;

/// `LAYOUT_GENERAL_EXT`: `VK_IMAGE_LAYOUT_GENERAL`.
const LAYOUT_GENERAL_EXT: u32 = 0x958D;
/// `SEMAPHORE_TYPE_NV`.
const SEMAPHORE_TYPE_NV: u32 = 0x95B3;
/// `SEMAPHORE_TYPE_TIMELINE_NV`.
const SEMAPHORE_TYPE_TIMELINE_NV: i32 = 0x95B5;
/// `TIMELINE_SEMAPHORE_VALUE_NV`.
const TIMELINE_SEMAPHORE_VALUE_NV: u32 = 0x9595;

/// Name of a semaphore, a type that glow lacks.
#[derive(Clone, Copy)]
pub struct SemaphoreObject(NonZeroU32);

/// The objects that a signal makes visible to the other side, or a wait to this one.
#[derive(Clone, Copy)]
pub(crate) enum SharedObject<'a> {
    Buffer(glow::Buffer),
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone has several"))]
    Buffers(&'a [glow::Buffer]),
    Texture(glow::Texture),
}

functions! {
    /// Their signatures are those of "New Procedures and Functions" of `GL_EXT_semaphore` and its extensions.
    all BinaryFns {
        generate = c"glGenSemaphoresEXT", fn(count: i32, names: *mut u32);
        delete = c"glDeleteSemaphoresEXT", fn(count: i32, names: *const u32);
        parameter = c"glSemaphoreParameterui64vEXT", fn(semaphore: u32, parameter: u32, values: *const u64);
        import = os::IMPORT_SEMAPHORE, fn(semaphore: u32, handle_type: u32, handle: RawOsHandle);
        wait = c"glWaitSemaphoreEXT",
            fn(semaphore: u32, u32, buffers: *const u32, u32, textures: *const u32, *const u32);
        signal = c"glSignalSemaphoreEXT",
            fn(semaphore: u32, u32, buffers: *const u32, u32, textures: *const u32, *const u32);
    }
}

functions! {
    /// Their signatures are those of `GL_NV_timeline_semaphore`.
    all TimelineFns {
        create = c"glCreateSemaphoresNV", fn(count: i32, names: *mut u32);
        parameter = c"glSemaphoreParameterivNV", fn(semaphore: u32, parameter: u32, values: *const i32);
    }
}

/// Function pointers of one context.
#[derive(Clone, Copy)]
pub(crate) struct SemaphoreFns {
    binary: BinaryFns,
    timeline: Option<TimelineFns>,
}

impl SemaphoreFns {
    /// Loads the functions: all or none of each extension.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Option<Self> {
        // SAFETY: the caller's promise.
        unsafe { Some(Self { binary: BinaryFns::load(load)?, timeline: TimelineFns::load(load) }) }
    }

    /// True where the functions of `GL_NV_timeline_semaphore` were found as well.
    pub(crate) fn has_timeline(&self) -> bool {
        self.timeline.is_some()
    }

    /// Creates a semaphore without state: `glGenSemaphoresEXT`, or `glCreateSemaphoresNV` with its type set.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_semaphore`, for a timeline `GL_NV_timeline_semaphore` too.
    pub(crate) unsafe fn create(&self, timeline: bool) -> Option<SemaphoreObject> {
        let mut name = 0;
        // SAFETY: the caller's promise; one name is written, and the parameter is one integer.
        unsafe {
            if timeline {
                let functions = self.timeline?;
                (functions.create)(1, &raw mut name);
                if name != 0 {
                    (functions.parameter)(name, SEMAPHORE_TYPE_NV, &SEMAPHORE_TYPE_TIMELINE_NV);
                }
            } else {
                (self.binary.generate)(1, &raw mut name);
            }
        }
        NonZeroU32::new(name).map(SemaphoreObject)
    }

    /// `glDeleteSemaphoresEXT`.
    ///
    /// # Safety
    /// The context is current; `semaphore` was made in it and is not used again.
    pub(crate) unsafe fn delete(&self, semaphore: SemaphoreObject) {
        let name = semaphore.0.get();
        // SAFETY: the caller's promise; one name is read.
        unsafe { (self.binary.delete)(1, &raw const name) }
    }

    /// `glImportSemaphoreFdEXT` or `glImportSemaphoreWin32HandleEXT` of an opaque handle;
    /// [`interop_core::devices::os_handle::ImportedHandle`] tracks who owns the handle afterwards.
    ///
    /// # Safety
    /// The context is current and lists [`os::SEMAPHORE_EXTENSION`]; `semaphore` is of it and has no state yet; the
    /// handle is open.
    pub(crate) unsafe fn import(&self, semaphore: SemaphoreObject, handle: RawOsHandle) {
        // SAFETY: the caller's promise.
        unsafe { (self.binary.import)(semaphore.0.get(), os::HANDLE_TYPE, handle) }
    }

    /// `glSemaphoreParameterui64vEXT`: sets the counter's value for the next signal or wait.
    ///
    /// # Safety
    /// The context is current; `semaphore` is a timeline of it.
    pub(crate) unsafe fn set_value(&self, semaphore: SemaphoreObject, value: u64) {
        // SAFETY: the caller's promise; the parameter is one integer.
        unsafe { (self.binary.parameter)(semaphore.0.get(), TIMELINE_SEMAPHORE_VALUE_NV, &raw const value) }
    }

    /// `glWaitSemaphoreEXT`: later GL commands wait, and see everything that was written to `what`.
    ///
    /// # Safety
    /// The context is current; both are of it, and the semaphore has state.
    pub(crate) unsafe fn wait(&self, semaphore: SemaphoreObject, what: SharedObject<'_>) {
        // SAFETY: the caller's promise.
        unsafe { barrier(self.binary.wait, semaphore, what) }
    }

    /// `glSignalSemaphoreEXT`, after all earlier GL commands; waiters then see everything written to `what`.
    ///
    /// # Safety
    /// The context is current; both are of it, and the semaphore has state.
    pub(crate) unsafe fn signal(&self, semaphore: SemaphoreObject, what: SharedObject<'_>) {
        // SAFETY: the caller's promise.
        unsafe { barrier(self.binary.signal, semaphore, what) }
    }
}

/// # Safety
/// `function` is `glWaitSemaphoreEXT` or `glSignalSemaphoreEXT` of the current context, of which all names are.
unsafe fn barrier(
    function: unsafe extern "system" fn(u32, u32, *const u32, u32, *const u32, *const u32),
    semaphore: SemaphoreObject,
    what: SharedObject<'_>,
) {
    let semaphore = semaphore.0.get();
    let none = std::ptr::null();
    // SAFETY: the caller's promise; each list is as long as its count says.
    unsafe {
        match what {
            SharedObject::Buffer(buffer) => function(semaphore, 1, &buffer.0.get(), 0, none, none),
            SharedObject::Buffers(all) => {
                let names: Vec<u32> = all.iter().map(|buffer| buffer.0.get()).collect();
                // A few buffers: those that were written since the last signal.
                function(semaphore, names.len() as u32, names.as_ptr(), 0, none, none);
            }
            SharedObject::Texture(texture) => function(semaphore, 0, none, 1, &texture.0.get(), &LAYOUT_GENERAL_EXT),
        }
    }
}
