//! File descriptors: `GL_EXT_external_objects_fd`.

use std::ffi::CStr;

pub(crate) const MEMORY_EXTENSION: &str = "GL_EXT_memory_object_fd";
pub(crate) const SEMAPHORE_EXTENSION: &str = "GL_EXT_semaphore_fd";
/// Both take `(name, .., handle type, int)`.
pub(crate) const IMPORT_MEMORY: &CStr = c"glImportMemoryFdEXT";
pub(crate) const IMPORT_SEMAPHORE: &CStr = c"glImportSemaphoreFdEXT";
/// `HANDLE_TYPE_OPAQUE_FD_EXT`.
pub(crate) const HANDLE_TYPE: u32 = 0x9586;
