//! Memory that another API allocated: `GL_EXT_memory_object` with `GL_EXT_memory_object_fd` or `_win32`.

use crate::api::functions::functions;
use crate::api::os;
use interop_core::devices::os_handle::RawOsHandle;
use std::num::NonZeroU32;

/// `DEDICATED_MEMORY_OBJECT_EXT`.
const DEDICATED_MEMORY_OBJECT_EXT: u32 = 0x9581;

/// Name of a memory object, a type that glow lacks.
#[derive(Clone, Copy)]
pub struct MemoryObject(NonZeroU32);

functions! {
    /// Their signatures are those of "New Procedures and Functions" of both extensions.
    all MemoryObjectFns {
        create = c"glCreateMemoryObjectsEXT", fn(count: i32, names: *mut u32);
        delete = c"glDeleteMemoryObjectsEXT", fn(count: i32, names: *const u32);
        parameter = c"glMemoryObjectParameterivEXT", fn(memory: u32, parameter: u32, values: *const i32);
        import = os::IMPORT_MEMORY, fn(memory: u32, bytes: u64, handle_type: u32, handle: RawOsHandle);
        buffer_storage = c"glBufferStorageMemEXT", fn(target: u32, bytes: isize, memory: u32, offset: u64);
        texture_storage = c"glTexStorageMem2DEXT",
            fn(target: u32, levels: i32, format: u32, width: i32, height: i32, memory: u32, offset: u64);
    }
}

impl MemoryObjectFns {
    /// `glCreateMemoryObjectsEXT`: creates a memory object without memory.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`.
    pub(crate) unsafe fn create(&self) -> Option<MemoryObject> {
        let mut name = 0;
        // SAFETY: the caller's promise; one name is written.
        unsafe { (self.create)(1, &raw mut name) };
        NonZeroU32::new(name).map(MemoryObject)
    }

    /// `glDeleteMemoryObjectsEXT`.
    ///
    /// # Safety
    /// The context is current; `memory` was made in it and is not used again.
    pub(crate) unsafe fn delete(&self, memory: MemoryObject) {
        let name = memory.0.get();
        // SAFETY: the caller's promise; one name is read.
        unsafe { (self.delete)(1, &raw const name) }
    }

    /// `glMemoryObjectParameterivEXT`: declares the memory to be dedicated to one buffer or texture.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`; `memory` is of it and has no memory yet.
    pub(crate) unsafe fn set_dedicated(&self, memory: MemoryObject) {
        let yes = 1;
        // SAFETY: the caller's promise; the parameter is one integer.
        unsafe { (self.parameter)(memory.0.get(), DEDICATED_MEMORY_OBJECT_EXT, &raw const yes) }
    }

    /// `glImportMemoryFdEXT` or `glImportMemoryWin32HandleEXT` of an opaque handle;
    /// [`interop_core::devices::os_handle::ImportedHandle`] tracks who owns the handle afterwards.
    ///
    /// # Safety
    /// The context is current and lists [`os::MEMORY_EXTENSION`]; `memory` is of it and has no memory yet; the handle
    /// is open.
    pub(crate) unsafe fn import(&self, memory: MemoryObject, bytes: u64, handle: RawOsHandle) {
        // SAFETY: the caller's promise.
        unsafe { (self.import)(memory.0.get(), bytes, os::HANDLE_TYPE, handle) }
    }

    /// `glBufferStorageMemEXT`: the bound buffer uses the first `bytes` of `memory`.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`; a buffer without storage is bound to `target`.
    pub(crate) unsafe fn buffer_storage(&self, target: u32, bytes: isize, memory: MemoryObject) {
        // SAFETY: the caller's promise.
        unsafe { (self.buffer_storage)(target, bytes, memory.0.get(), 0) }
    }

    /// `glTexStorageMem2DEXT`: the bound 2-D texture gets one level at the start of `memory`.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`; a texture without storage is bound to `TEXTURE_2D`;
    /// `format` is a sized internal format.
    pub(crate) unsafe fn texture_storage(&self, format: u32, width: i32, height: i32, memory: MemoryObject) {
        // SAFETY: the caller's promise.
        unsafe { (self.texture_storage)(glow::TEXTURE_2D, 1, format, width, height, memory.0.get(), 0) }
    }
}
