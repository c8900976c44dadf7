//! Memory and semaphores of other APIs, opened with handles of the operating system: for displays and for kernels.

use crate::api::error_codes::hint;
use crate::api::memory_object::{MemoryObject, MemoryObjectFns};
use crate::api::os;
use crate::api::semaphore_object::{SemaphoreFns, SemaphoreObject};
use crate::context::error::{check, drain, failure};
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{DeviceIdentity, Error, MemoryHandle, Result, SemaphoreHandle, SharedHandle, SyncKind};

const IMPORT_MEMORY: &str = os::name(os::IMPORT_MEMORY);
const IMPORT_SEMAPHORE: &str = os::name(os::IMPORT_SEMAPHORE);

/// Returns the size of a buffer over `bytes` of the allocation behind a handle.
///
/// # Errors
/// [`Error::InvalidInput`] where the allocation has fewer.
pub(crate) fn buffer_size(device: &DeviceIdentity, handle: &MemoryHandle, bytes: usize) -> Result<isize> {
    let whole = handle.bytes();
    SharedHandle::check_room(whole, bytes as u64)?;
    // llvmpipe adds padding of its own, so the whole allocation would not fit into itself.
    let size = if device.software { bytes } else { usize::try_from(whole).unwrap_or(usize::MAX) };
    isize::try_from(size).map_err(|_| Error::refused(format!("{whole} bytes exceed the address space")))
}

/// Returns a hint for a memory error of the driver.
pub(crate) fn memory_hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => hint(code),
        _ => {
            "The handle must name memory that the other side exported on this GPU, with the size of the \
             whole allocation; otherwise use another path."
        }
    }
}

/// Creates a memory object over the whole allocation behind `handle`, dedicated to one buffer or texture.
///
/// On NVIDIA (580.159), a buffer over a part of the memory was left unmapped in about one of 50 imports: GL read zeros
/// and its writes were lost, without an error. A dedicated buffer over the whole memory never was. Textures that are
/// not dedicated occasionally show other memory there.
///
/// # Errors
/// [`Error::InvalidInput`] for a handle that is not memory of the GPU; [`Error::Driver`] for errors of the driver.
///
/// # Safety
/// The context is current and lists [`os::MEMORY_EXTENSION`]; the functions, `gl` and `device` belong to it.
pub(crate) unsafe fn open_memory(
    functions: &MemoryObjectFns,
    gl: &glow::Context,
    device: &DeviceIdentity,
    handle: MemoryHandle,
) -> Result<MemoryObject> {
    if device.vendor.contains("NVIDIA") && !os::may_be_nvidias(handle.handle()) {
        return Err(Error::refused("the handle is not memory of an NVIDIA GPU: its file is not an NVIDIA device"));
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
        // SAFETY: as above; the name has no other owner.
        unsafe { functions.delete(memory) };
        return Err(error);
    }
    Ok(memory)
}

fn semaphore_hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => hint(code),
        _ => "OpenGL and Vulkan must belong to one driver and version; otherwise use host fences.",
    }
}

/// Opens the semaphore behind `handle`.
///
/// # Errors
/// [`Error::Driver`] for errors of the driver.
///
/// # Safety
/// The context is current and lists [`os::SEMAPHORE_EXTENSION`], and for a timeline `GL_NV_timeline_semaphore` as well;
/// the functions, `gl` and `device` belong to it.
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
        // SAFETY: as above; the name has no other owner.
        unsafe { functions.delete(semaphore) };
        return Err(error);
    }
    Ok(semaphore)
}
