//! File descriptors, by the driver's names for them.

use cudarc::driver::sys as cu;
use std::ffi::c_void;
use std::ptr;

/// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD`.
pub const MEMORY: u32 = 1;
/// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD`.
pub const SEMAPHORE: u32 = 1;
/// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD`.
pub const TIMELINE: u32 = 9;
/// Handle type for exported memory.
pub const EXPORTED: cu::CUmemAllocationHandleType =
    cu::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
/// `CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED`.
pub const EXPORT_SUPPORTED: u32 = 103;

/// Returns the access rules for exported memory: null, because file descriptors have none.
pub fn security() -> *mut c_void {
    ptr::null_mut()
}
