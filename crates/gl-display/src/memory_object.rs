//! Memory that another API allocated: `GL_EXT_memory_object` and `GL_EXT_memory_object_fd`.
// Descriptors are of POSIX systems only.
#![cfg_attr(not(unix), allow(dead_code))]

use std::ffi::{CStr, c_int, c_void};
use std::num::NonZeroU32;

type Create = unsafe extern "system" fn(count: i32, names: *mut u32);
type Delete = unsafe extern "system" fn(count: i32, names: *const u32);
type Parameter = unsafe extern "system" fn(memory: u32, parameter: u32, values: *const i32);
type ImportFd = unsafe extern "system" fn(memory: u32, bytes: u64, handle_type: u32, fd: c_int);
type BufferStorage = unsafe extern "system" fn(target: u32, bytes: isize, memory: u32, offset: u64);
type TextureStorage =
    unsafe extern "system" fn(target: u32, levels: i32, format: u32, width: i32, height: i32, memory: u32, offset: u64);

/// `HANDLE_TYPE_OPAQUE_FD_EXT`.
const HANDLE_TYPE_OPAQUE_FD_EXT: u32 = 0x9586;

/// `DEDICATED_MEMORY_OBJECT_EXT`.
const DEDICATED_MEMORY_OBJECT_EXT: u32 = 0x9581;

/// Name of a memory object, which glow does not know.
#[derive(Clone, Copy)]
pub(crate) struct MemoryObject(NonZeroU32);

/// Function pointers of one context.
#[derive(Clone, Copy)]
pub(crate) struct MemoryObjectFns {
    create: Create,
    delete: Delete,
    parameter: Parameter,
    import_fd: ImportFd,
    buffer_storage: BufferStorage,
    texture_storage: TextureStorage,
}

impl MemoryObjectFns {
    /// Looks the functions up: all or none.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Option<Self> {
        let create = load(c"glCreateMemoryObjectsEXT");
        let delete = load(c"glDeleteMemoryObjectsEXT");
        let parameter = load(c"glMemoryObjectParameterivEXT");
        let import = load(c"glImportMemoryFdEXT");
        let storage = load(c"glBufferStorageMemEXT");
        let texture = load(c"glTexStorageMem2DEXT");
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise
        // ("New Procedures and Functions" of both extensions).
        unsafe {
            Some(Self {
                create: std::mem::transmute::<*const c_void, Option<Create>>(create)?,
                delete: std::mem::transmute::<*const c_void, Option<Delete>>(delete)?,
                parameter: std::mem::transmute::<*const c_void, Option<Parameter>>(parameter)?,
                import_fd: std::mem::transmute::<*const c_void, Option<ImportFd>>(import)?,
                buffer_storage: std::mem::transmute::<*const c_void, Option<BufferStorage>>(storage)?,
                texture_storage: std::mem::transmute::<*const c_void, Option<TextureStorage>>(texture)?,
            })
        }
    }

    /// `glCreateMemoryObjectsEXT`: a memory object with no memory.
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

    /// `glMemoryObjectParameterivEXT`: the memory will be that of one buffer or texture alone.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`; `memory` is of it and has no memory yet.
    pub(crate) unsafe fn set_dedicated(&self, memory: MemoryObject) {
        let yes = 1;
        // SAFETY: the caller's promise; the parameter is one integer.
        unsafe { (self.parameter)(memory.0.get(), DEDICATED_MEMORY_OBJECT_EXT, &raw const yes) }
    }

    /// `glImportMemoryFdEXT` of an opaque descriptor. Without an error it is the driver's from then on.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object_fd`; `memory` is of it and has no memory yet; `fd` is
    /// open.
    pub(crate) unsafe fn import_fd(&self, memory: MemoryObject, bytes: u64, fd: c_int) {
        // SAFETY: the caller's promise.
        unsafe { (self.import_fd)(memory.0.get(), bytes, HANDLE_TYPE_OPAQUE_FD_EXT, fd) }
    }

    /// `glBufferStorageMemEXT`: the bound buffer becomes the first `bytes` of `memory`.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`; a buffer without storage is bound to `target`.
    pub(crate) unsafe fn buffer_storage(&self, target: u32, bytes: isize, memory: MemoryObject) {
        // SAFETY: the caller's promise.
        unsafe { (self.buffer_storage)(target, bytes, memory.0.get(), 0) }
    }

    /// `glTexStorageMem2DEXT`: the bound 2-D texture becomes one level at the start of `memory`.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`; a texture without storage is bound to `TEXTURE_2D`;
    /// `format` is a sized internal format.
    pub(crate) unsafe fn texture_storage(&self, format: u32, width: i32, height: i32, memory: MemoryObject) {
        // SAFETY: the caller's promise.
        unsafe { (self.texture_storage)(glow::TEXTURE_2D, 1, format, width, height, memory.0.get(), 0) }
    }
}
