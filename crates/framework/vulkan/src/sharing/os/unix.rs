//! File descriptors: `VK_KHR_external_memory_fd` and `VK_KHR_external_semaphore_fd`.

use ash::prelude::VkResult;
use ash::{khr, vk};
use interop_core::devices::os_handle::RawOsHandle;
use std::ffi::CStr;

/// The extension by which this operating system shares memory.
pub const MEMORY_EXTENSION: &CStr = khr::external_memory_fd::NAME;
/// The extension by which this operating system shares semaphores.
pub const SEMAPHORE_EXTENSION: &CStr = khr::external_semaphore_fd::NAME;
/// Handle type for memory on this operating system.
pub const MEMORY_HANDLE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
pub const SEMAPHORE_HANDLE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

pub const GET_MEMORY: &str = "vkGetMemoryFdKHR";
pub const GET_SEMAPHORE: &str = "vkGetSemaphoreFdKHR";
pub const IMPORT_SEMAPHORE: &str = "vkImportSemaphoreFdKHR";
pub const GET_MEMORY_NAME: &CStr = c"vkGetMemoryFdKHR";
pub const GET_SEMAPHORE_NAME: &CStr = c"vkGetSemaphoreFdKHR";

pub type MemoryFns = khr::external_memory_fd::Device;
pub type SemaphoreFns = khr::external_semaphore_fd::Device;

/// Returns a new handle of the memory.
///
/// # Safety
/// The memory belongs to the functions' device and was allocated for export.
pub unsafe fn memory_handle(functions: &MemoryFns, memory: vk::DeviceMemory) -> VkResult<RawOsHandle> {
    let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(MEMORY_HANDLE);
    // SAFETY: the caller's promise.
    unsafe { functions.get_memory_fd(&info) }
}

/// Returns a new handle of the semaphore.
///
/// # Safety
/// The semaphore belongs to the functions' device and was created for export.
pub unsafe fn semaphore_handle(functions: &SemaphoreFns, semaphore: vk::Semaphore) -> VkResult<RawOsHandle> {
    let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(SEMAPHORE_HANDLE);
    // SAFETY: the caller's promise.
    unsafe { functions.get_semaphore_fd(&info) }
}

/// Returns the structure that imports memory in an allocation.
pub fn import(handle: RawOsHandle) -> vk::ImportMemoryFdInfoKHR<'static> {
    vk::ImportMemoryFdInfoKHR::default().handle_type(MEMORY_HANDLE).fd(handle)
}

/// Replaces a semaphore's state permanently by the state behind a handle.
///
/// # Safety
/// The semaphore belongs to the functions' device, is new, and has the kind of the semaphore behind the handle, which
/// is open.
pub unsafe fn import_semaphore(
    functions: &SemaphoreFns,
    semaphore: vk::Semaphore,
    handle: RawOsHandle,
) -> VkResult<()> {
    let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(semaphore).handle_type(SEMAPHORE_HANDLE).fd(handle);
    // SAFETY: the caller's promise.
    unsafe { functions.import_semaphore_fd(&info) }
}
