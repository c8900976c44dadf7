//! Entry points that glow does not wrap, loaded by name. All are optional.

use crate::api::functions::functions;
use crate::api::memory_object::MemoryObjectFns;
use crate::api::semaphore_object::SemaphoreFns;
use crate::api::state_fns::StateFns;
use crate::api::suffixed_fns::SuffixedFns;
use crate::api::texture_query::TextureFns;
use crate::api::timer::TimerFns;
use std::ffi::{CStr, c_void};

/// `NUM_DEVICE_UUIDS_EXT` of `GL_EXT_memory_object`.
pub(crate) const NUM_DEVICE_UUIDS_EXT: u32 = 0x9596;
/// `DEVICE_UUID_EXT` of `GL_EXT_memory_object`.
const DEVICE_UUID_EXT: u32 = 0x9597;
/// `DEVICE_LUID_EXT` of `GL_EXT_external_objects_win32`.
const DEVICE_LUID_EXT: u32 = 0x9599;

functions! {
    /// Their signatures are those of OpenGL 4.6 core, section 6.3.1, and `GL_EXT_memory_object`, section 4.2.
    each LoneFns {
        unmap_buffer = c"glUnmapBuffer", fn(target: u32) -> u8;
        get_unsigned_byte = c"glGetUnsignedBytevEXT", fn(parameter: u32, data: *mut u8);
        get_unsigned_byte_i = c"glGetUnsignedBytei_vEXT", fn(parameter: u32, index: u32, data: *mut u8);
    }
}

/// Function pointers of one context.
#[derive(Default)]
pub(crate) struct RawFns {
    lone: LoneFns,
    /// Functions for memory of other APIs.
    pub memory_objects: Option<MemoryObjectFns>,
    /// Functions for semaphores of other APIs.
    pub semaphores: Option<SemaphoreFns>,
    /// Functions for timestamps.
    pub timers: Option<TimerFns>,
    /// Functions for textures by name.
    pub textures: Option<TextureFns>,
    /// Functions that set state.
    pub states: StateFns,
    /// Functions of OpenGL ES extensions.
    pub suffixed: SuffixedFns,
}

impl RawFns {
    /// Loads the functions.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                lone: LoneFns::load(load),
                memory_objects: MemoryObjectFns::load(load),
                semaphores: SemaphoreFns::load(load),
                timers: TimerFns::load(load),
                textures: TextureFns::load(load),
                states: StateFns::load(load),
                suffixed: SuffixedFns::load(load),
            }
        }
    }

    /// `glUnmapBuffer` with its result, which glow discards: false where the content was lost while mapped. `None`
    /// where the function could not be loaded.
    ///
    /// # Safety
    /// The context is current and a mapped buffer is bound to `target`.
    pub(crate) unsafe fn unmap_buffer(&self, target: u32) -> Option<bool> {
        // SAFETY: the caller's promise; the pointer is of the current context.
        self.lone.unmap_buffer.map(|f| unsafe { f(target) } != 0)
    }

    /// Returns the first device UUID.
    ///
    /// # Safety
    /// The context is current, has `GL_EXT_memory_object` and at least one device UUID.
    pub(crate) unsafe fn device_uuid(&self) -> Option<[u8; 16]> {
        let get = self.lone.get_unsigned_byte_i?;
        let mut uuid = [0; 16];
        // SAFETY: the query writes UUID_SIZE_EXT = 16 bytes.
        unsafe { get(DEVICE_UUID_EXT, 0, uuid.as_mut_ptr()) };
        (uuid != [0; 16]).then_some(uuid)
    }

    /// Returns the LUID of the adapter on Windows.
    ///
    /// # Safety
    /// The context is current and has `GL_EXT_memory_object_win32` or `GL_EXT_semaphore_win32`.
    pub(crate) unsafe fn device_luid(&self) -> Option<[u8; 8]> {
        let get = self.lone.get_unsigned_byte?;
        let mut luid = [0; 8];
        // SAFETY: the query writes LUID_SIZE_EXT = 8 bytes.
        unsafe { get(DEVICE_LUID_EXT, luid.as_mut_ptr()) };
        (luid != [0; 8]).then_some(luid)
    }
}
