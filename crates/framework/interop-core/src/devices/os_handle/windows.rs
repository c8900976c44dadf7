//! NT handles. A driver that imports one references the object and leaves the handle to its owner
//! (`VK_KHR_external_memory_win32`, `GL_EXT_external_objects_win32`, `cl_khr_external_memory_win32`,
//! `cuImportExternalMemory`). This code is compiled but was never run.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle};
use std::ptr;

/// Owns an operating-system handle of memory or a semaphore; closed on drop.
pub type OsHandle = OwnedHandle;

/// The pointer by which drivers receive a handle.
pub type RawOsHandle = RawHandle;

/// The invalid handle.
pub const NONE: RawOsHandle = ptr::null_mut();

/// Takes ownership of a handle that a driver returned; `None` where it is invalid.
///
/// # Safety
/// `raw` is open and owned by the caller alone, or it is not a handle.
pub unsafe fn own(raw: RawOsHandle) -> Option<OsHandle> {
    // SAFETY: the caller guarantees it.
    (!raw.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(raw) })
}

/// A handle passed to a driver, which never takes ownership: dropping this value closes it, whatever the result of the
/// import.
#[derive(Debug)]
pub struct ImportedHandle(OwnedHandle);

impl ImportedHandle {
    /// Keeps the handle open while the driver imports it.
    pub fn new(handle: OsHandle) -> Self {
        Self(handle)
    }

    /// Returns the pointer for the driver.
    pub fn number(&self) -> RawOsHandle {
        self.0.as_raw_handle()
    }

    /// Returns the handle as a property value, for APIs whose lists contain numbers (`cl_khr_external_memory`).
    pub fn property(&self) -> u64 {
        self.number().expose_provenance() as u64
    }

    /// After a failed import: closes the handle.
    pub fn close_if_left(self) {}
}
