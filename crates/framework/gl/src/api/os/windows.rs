//! NT handles: `GL_EXT_external_objects_win32`. This code is compiled but was never run.

use interop_core::devices::os_handle::OsHandle;
use std::ffi::CStr;

pub(crate) const MEMORY_EXTENSION: &str = "GL_EXT_memory_object_win32";
pub(crate) const SEMAPHORE_EXTENSION: &str = "GL_EXT_semaphore_win32";
/// The import functions take `(name, .., handle type, void *)`.
pub(crate) const IMPORT_MEMORY: &CStr = c"glImportMemoryWin32HandleEXT";
pub(crate) const IMPORT_SEMAPHORE: &CStr = c"glImportSemaphoreWin32HandleEXT";
/// `HANDLE_TYPE_OPAQUE_WIN32_EXT`.
pub(crate) const HANDLE_TYPE: u32 = 0x9587;

/// Always true: a handle does not reveal what it names.
pub(crate) fn may_be_nvidias(_: &OsHandle) -> bool {
    true
}
