//! NT handles. A driver that imports one keeps what is behind it and leaves the handle to whoever gave it
//! (`VK_KHR_external_memory_win32`, `GL_EXT_external_objects_win32`, `cl_khr_external_memory_win32`,
//! `cuImportExternalMemory`). Compiled, never run.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr;

/// Owns what the operating system calls memory or a semaphore; closed on drop.
pub type OsHandle = OwnedHandle;

/// The pointer that drivers are given for a handle.
pub type RawOsHandle = RawHandle;

/// No handle.
pub const NONE: RawOsHandle = ptr::null_mut();

/// Returns what a driver gave out; `None` where it is no handle.
///
/// # Safety
/// It is open and the caller's alone, unless it is not a handle.
pub unsafe fn own(raw: RawOsHandle) -> Option<OsHandle> {
    // SAFETY: the caller's promise.
    (!raw.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(raw) })
}

/// A handle given to the driver, which never takes it: closed when this is dropped, whatever the driver said.
#[derive(Debug)]
pub struct ImportedHandle(OwnedHandle);

impl ImportedHandle {
    /// From here on the driver may open it.
    pub fn new(handle: OsHandle) -> Self {
        Self(handle)
    }

    /// Returns what the driver is told.
    pub fn number(&self) -> RawOsHandle {
        self.0.as_raw_handle()
    }

    /// The handle for APIs whose lists are of numbers (`cl_khr_external_memory`).
    pub fn property(&self) -> u64 {
        self.number().expose_provenance() as u64
    }

    /// After a refusal: closes the handle.
    pub fn close_if_left(self) {}
}
