//! File descriptors: `GL_EXT_external_objects_fd`.

use interop_core::devices::os_handle::OsHandle;
use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

pub(crate) const MEMORY_EXTENSION: &str = "GL_EXT_memory_object_fd";
pub(crate) const SEMAPHORE_EXTENSION: &str = "GL_EXT_semaphore_fd";
/// The import functions take `(name, .., handle type, int)`.
pub(crate) const IMPORT_MEMORY: &CStr = c"glImportMemoryFdEXT";
pub(crate) const IMPORT_SEMAPHORE: &CStr = c"glImportSemaphoreFdEXT";
/// `HANDLE_TYPE_OPAQUE_FD_EXT`.
pub(crate) const HANDLE_TYPE: u32 = 0x9586;
/// Major device number of `/dev/null` and similar files.
const MEM: u64 = 1;

/// Tells whether the handle may be memory of NVIDIA, which always is a device file. When its driver (580.159) was given
/// `/dev/null`, it returned `GL_INVALID_VALUE`, and draws of other contexts in the process were lost without an error.
pub(crate) fn may_be_nvidias(handle: &OsHandle) -> bool {
    let metadata = handle.try_clone().and_then(|handle| File::from(handle).metadata());
    // Where the file cannot be examined, the driver decides.
    metadata.map_or(true, |m| m.file_type().is_char_device() && (m.rdev() >> 8) & 0xfff != MEM)
}
