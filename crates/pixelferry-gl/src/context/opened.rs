//! Memory and semaphores of other APIs, opened by handles of the operating system: for displays and for kernels.

use crate::api::error_codes::hint;
use crate::api::memory_object::{MemoryObject, MemoryObjectFns};
use crate::api::os;
use crate::api::semaphore_object::{SemaphoreFns, SemaphoreObject};
use crate::context::error::{check, drain, failure};
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{DeviceIdentity, Error, MemoryHandle, Result, SemaphoreHandle, SharedHandle, SyncKind};

const IMPORT_MEMORY: &str = os::name(os::IMPORT_MEMORY);
const IMPORT_SEMAPHORE: &str = os::name(os::IMPORT_SEMAPHORE);

/// Size of a buffer over `bytes` of the allocation behind a handle.
///
/// # Errors
/// [`Error::InvalidInput`] where it has fewer.
pub(crate) fn buffer_size(device: &DeviceIdentity, handle: &MemoryHandle, bytes: usize) -> Result<isize> {
    let whole = handle.bytes();
    SharedHandle::check_room(whole, bytes as u64)?;
    // llvmpipe counts padding of its own, so that there the whole does not fit into itself.
    let size = if device.software { bytes } else { usize::try_from(whole).unwrap_or(usize::MAX) };
    isize::try_from(size).map_err(|_| Error::refused(format!("no memory has {whole} bytes")))
}

/// Advice for an error that a driver reports of memory.
pub(crate) fn memory_hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => hint(code),
        _ => {
            "The handle must be of memory that the other side exported on this very GPU, and come with the size of the \
             whole; use another path otherwise."
        }
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
pub(crate) unsafe fn open_memory(
    functions: &MemoryObjectFns,
    gl: &glow::Context,
    device: &DeviceIdentity,
    handle: MemoryHandle,
) -> Result<MemoryObject> {
    if device.vendor.contains("NVIDIA") && !os::may_be_nvidias(handle.handle()) {
        return Err(Error::refused("the handle is of no memory of an NVIDIA GPU: its file is not NVIDIA's device"));
    }
    drain(gl, IMPORT_MEMORY);
    // SAFETY: the caller's promise.
    let memory = unsafe { functions.create() };
    let memory =
        memory.ok_or_else(|| failure(&device.name, "glCreateMemoryObjectsEXT", 0, "no object name returned", ""))?;
    let (whole, to_driver) = (handle.bytes(), ImportedHandle::new(handle.into_handle()));
    // SAFETY: as above; the memory object is new, the handle open and of memory of so many bytes.
    unsafe {
        functions.set_dedicated(memory);
        functions.import(memory, whole, to_driver.number());
    }
    if let Err(error) = check(gl, &device.name, IMPORT_MEMORY, memory_hint) {
        to_driver.close_if_left();
        // SAFETY: as above; nobody else has the name.
        unsafe { functions.delete(memory) };
        return Err(error);
    }
    Ok(memory)
}

fn semaphore_hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => hint(code),
        _ => "OpenGL and Vulkan must be of one driver and version; take turns by host fences otherwise.",
    }
}

/// The semaphore behind `handle`.
///
/// # Errors
/// [`Error::Driver`] for what the driver refuses.
///
/// # Safety
/// The context is current, lists [`os::SEMAPHORE_EXTENSION`], for a timeline `GL_NV_timeline_semaphore` too, and is that of
/// these functions, of `gl` and of `device`.
pub(crate) unsafe fn open_semaphore(
    functions: &SemaphoreFns,
    gl: &glow::Context,
    device: &DeviceIdentity,
    handle: SemaphoreHandle,
) -> Result<SemaphoreObject> {
    let timeline = handle.kind() == SyncKind::TimelineSemaphore;
    drain(gl, IMPORT_SEMAPHORE);
    // SAFETY: the caller's promise.
    let semaphore = unsafe { functions.create(timeline) };
    let semaphore =
        semaphore.ok_or_else(|| failure(&device.name, "glGenSemaphoresEXT", 0, "no object name returned", ""))?;
    let to_driver = ImportedHandle::new(handle.into_handle());
    // SAFETY: as above; the semaphore is new, the handle open and of a semaphore.
    unsafe { functions.import(semaphore, to_driver.number()) };
    if let Err(error) = check(gl, &device.name, IMPORT_SEMAPHORE, semaphore_hint) {
        to_driver.close_if_left();
        // SAFETY: as above; nobody else has the name.
        unsafe { functions.delete(semaphore) };
        return Err(error);
    }
    Ok(semaphore)
}
