//! NT handles: `VK_KHR_external_memory_win32` and `VK_KHR_external_semaphore_win32`. This file compiles, but has never
//! been run.

use ash::prelude::VkResult;
use ash::{khr, vk};
use interop_core::devices::os_handle::RawOsHandle;
use std::ffi::CStr;
use std::ptr;

/// The extension by which this operating system shares memory.
pub const MEMORY_EXTENSION: &CStr = khr::external_memory_win32::NAME;
/// The extension by which this operating system shares semaphores.
pub const SEMAPHORE_EXTENSION: &CStr = khr::external_semaphore_win32::NAME;
/// Handle type for memory on this operating system.
pub const MEMORY_HANDLE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32;
pub const SEMAPHORE_HANDLE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_WIN32;

pub const GET_MEMORY: &str = "vkGetMemoryWin32HandleKHR";
pub const GET_SEMAPHORE: &str = "vkGetSemaphoreWin32HandleKHR";
pub const IMPORT_SEMAPHORE: &str = "vkImportSemaphoreWin32HandleKHR";
pub const GET_MEMORY_NAME: &CStr = c"vkGetMemoryWin32HandleKHR";
pub const GET_SEMAPHORE_NAME: &CStr = c"vkGetSemaphoreWin32HandleKHR";

pub type MemoryFns = khr::external_memory_win32::Device;
pub type SemaphoreFns = khr::external_semaphore_win32::Device;

/// Returns a new handle of the memory.
///
/// # Safety
/// The memory belongs to the functions' device and was allocated for export.
pub unsafe fn memory_handle(functions: &MemoryFns, memory: vk::DeviceMemory) -> VkResult<RawOsHandle> {
    let info = vk::MemoryGetWin32HandleInfoKHR::default().memory(memory).handle_type(MEMORY_HANDLE);
    // SAFETY: the caller's promise.
    unsafe { functions.get_memory_win32_handle(&info) }.map(raw)
}

/// Returns a new handle of the semaphore.
///
/// # Safety
/// The semaphore belongs to the functions' device and was created for export.
pub unsafe fn semaphore_handle(functions: &SemaphoreFns, semaphore: vk::Semaphore) -> VkResult<RawOsHandle> {
    let info = vk::SemaphoreGetWin32HandleInfoKHR::default().semaphore(semaphore).handle_type(SEMAPHORE_HANDLE);
    // SAFETY: the caller's promise.
    unsafe { functions.get_semaphore_win32_handle(&info) }.map(raw)
}

/// Returns the structure that imports memory in an allocation.
pub fn import(handle: RawOsHandle) -> vk::ImportMemoryWin32HandleInfoKHR<'static> {
    vk::ImportMemoryWin32HandleInfoKHR::default().handle_type(MEMORY_HANDLE).handle(number(handle))
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
    let info = vk::ImportSemaphoreWin32HandleInfoKHR::default()
        .semaphore(semaphore)
        .handle_type(SEMAPHORE_HANDLE)
        .handle(number(handle));
    // SAFETY: the caller's promise.
    unsafe { functions.import_semaphore_win32_handle(&info) }
}

fn number(handle: RawOsHandle) -> vk::HANDLE {
    handle.expose_provenance().cast_signed()
}

/// Converts a handle; ash represents handles as numbers.
fn raw(handle: vk::HANDLE) -> RawOsHandle {
    ptr::with_exposed_provenance_mut(handle.cast_unsigned())
}
