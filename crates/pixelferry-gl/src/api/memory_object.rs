//! Memory that another API allocated: `GL_EXT_memory_object` with `GL_EXT_memory_object_fd` or `_win32`.

use crate::api::os;
use crate::context::error::{check, drain, failure};
use interop_core::devices::os_handle::{ImportedHandle, RawOsHandle};
use interop_core::{DeviceIdentity, Error, MemoryHandle, Result};
use std::ffi::{CStr, c_void};
use std::num::NonZeroU32;

type Create = unsafe extern "system" fn(count: i32, names: *mut u32);
type Delete = unsafe extern "system" fn(count: i32, names: *const u32);
type Parameter = unsafe extern "system" fn(memory: u32, parameter: u32, values: *const i32);
type Import = unsafe extern "system" fn(memory: u32, bytes: u64, handle_type: u32, handle: RawOsHandle);
type BufferStorage = unsafe extern "system" fn(target: u32, bytes: isize, memory: u32, offset: u64);
type TextureStorage =
    unsafe extern "system" fn(target: u32, levels: i32, format: u32, width: i32, height: i32, memory: u32, offset: u64);

/// `DEDICATED_MEMORY_OBJECT_EXT`.
const DEDICATED_MEMORY_OBJECT_EXT: u32 = 0x9581;

/// Name of a memory object, which glow does not know.
#[derive(Clone, Copy)]
pub(crate) struct MemoryObject(NonZeroU32);

const IMPORT: &str = os::name(os::IMPORT_MEMORY);

/// Size of a buffer over `bytes` of the allocation behind a handle.
///
/// # Errors
/// [`Error::InvalidInput`] where it has fewer.
pub(crate) fn buffer_size(device: &DeviceIdentity, handle: &MemoryHandle, bytes: usize) -> Result<isize> {
    let whole = handle.bytes();
    if bytes as u64 > whole {
        return Err(Error::refused(format!("{bytes} bytes were asked for of memory that has {whole}")));
    }
    // llvmpipe counts padding of its own, so that there the whole does not fit into itself.
    let size = if device.software { bytes } else { usize::try_from(whole).unwrap_or(usize::MAX) };
    isize::try_from(size).map_err(|_| Error::refused(format!("no memory has {whole} bytes")))
}

/// Advice for an error that a driver reports of memory.
pub(crate) fn hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => crate::api::error_codes::hint(code),
        _ => {
            "The handle must be of memory that the other side exported on this very GPU, and come with the size of the \
             whole; use another path otherwise."
        }
    }
}

/// Function pointers of one context.
#[derive(Clone, Copy)]
pub(crate) struct MemoryObjectFns {
    create: Create,
    delete: Delete,
    parameter: Parameter,
    import: Import,
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
        let import = load(os::IMPORT_MEMORY);
        let storage = load(c"glBufferStorageMemEXT");
        let texture = load(c"glTexStorageMem2DEXT");
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise
        // ("New Procedures and Functions" of both extensions).
        unsafe {
            Some(Self {
                create: std::mem::transmute::<*const c_void, Option<Create>>(create)?,
                delete: std::mem::transmute::<*const c_void, Option<Delete>>(delete)?,
                parameter: std::mem::transmute::<*const c_void, Option<Parameter>>(parameter)?,
                import: std::mem::transmute::<*const c_void, Option<Import>>(import)?,
                buffer_storage: std::mem::transmute::<*const c_void, Option<BufferStorage>>(storage)?,
                texture_storage: std::mem::transmute::<*const c_void, Option<TextureStorage>>(texture)?,
            })
        }
    }

    /// A memory object over the whole allocation behind `handle`, for one buffer or texture alone.
    ///
    /// A buffer over a part of the memory came out unmapped in about one of 50 imports on NVIDIA (580.159): GL read zero and
    /// its writes were lost, with no error. One over all of it, and dedicated to it, never did. Textures that are not
    /// dedicated show other memory there now and then.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for what is no memory of the GPU; [`Error::Driver`] for what the driver refuses.
    ///
    /// # Safety
    /// The context is current, lists [`os::MEMORY_EXTENSION`], and is that of these functions, of `gl` and of `device`.
    pub(crate) unsafe fn open(
        &self,
        gl: &glow::Context,
        device: &DeviceIdentity,
        handle: MemoryHandle,
    ) -> Result<MemoryObject> {
        if device.vendor.contains("NVIDIA") && !os::may_be_nvidias(handle.handle()) {
            return Err(Error::refused("the handle is of no memory of an NVIDIA GPU: its file is not NVIDIA's device"));
        }
        drain(gl, IMPORT);
        // SAFETY: the caller's promise.
        let memory = unsafe { self.create() };
        let memory = memory
            .ok_or_else(|| failure(&device.name, "glCreateMemoryObjectsEXT", 0, "no object name returned", ""))?;
        let (whole, to_driver) = (handle.bytes(), ImportedHandle::new(handle.into_handle()));
        // SAFETY: as above; the memory object is new, the handle open and of memory of so many bytes.
        unsafe {
            self.set_dedicated(memory);
            self.import(memory, whole, to_driver.number());
        }
        if let Err(error) = check(gl, &device.name, IMPORT, hint) {
            to_driver.close_if_left();
            // SAFETY: as above; nobody else has the name.
            unsafe { self.delete(memory) };
            return Err(error);
        }
        Ok(memory)
    }

    /// `glCreateMemoryObjectsEXT`: a memory object with no memory.
    ///
    /// # Safety
    /// The context is current and lists `GL_EXT_memory_object`.
    unsafe fn create(&self) -> Option<MemoryObject> {
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
    unsafe fn set_dedicated(&self, memory: MemoryObject) {
        let yes = 1;
        // SAFETY: the caller's promise; the parameter is one integer.
        unsafe { (self.parameter)(memory.0.get(), DEDICATED_MEMORY_OBJECT_EXT, &raw const yes) }
    }

    /// `glImportMemoryFdEXT` or `glImportMemoryWin32HandleEXT` of an opaque handle; whose it is after that,
    /// [`interop_core::devices::os_handle::ImportedHandle`] knows.
    ///
    /// # Safety
    /// The context is current and lists [`os::MEMORY_EXTENSION`]; `memory` is of it and has no memory yet; the handle
    /// is open.
    unsafe fn import(&self, memory: MemoryObject, bytes: u64, handle: RawOsHandle) {
        // SAFETY: the caller's promise.
        unsafe { (self.import)(memory.0.get(), bytes, os::HANDLE_TYPE, handle) }
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
