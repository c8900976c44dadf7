//! NT handles, by OpenCL's names for them. This code is compiled but was never run.

use interop_core::OsHandle;
use std::io::Result;

/// The extension that opens memory.
pub const MEMORY_EXTENSION: &str = "cl_khr_external_memory_win32";
/// The extension that opens semaphores.
pub const SEMAPHORE_EXTENSION: &str = "cl_khr_external_semaphore_win32";
/// `CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR`.
pub const MEMORY: u32 = 0x2061;
/// `CL_SEMAPHORE_HANDLE_OPAQUE_WIN32_KHR`.
pub const SEMAPHORE: u32 = 0x2056;

/// Duplicates a handle with which OpenCL opens memory.
pub fn duplicate_memory(handle: &OsHandle) -> Result<OsHandle> {
    handle.try_clone()
}

/// Duplicates a handle with which OpenCL opens a semaphore.
pub fn duplicate_semaphore(handle: &OsHandle) -> Result<OsHandle> {
    handle.try_clone()
}
