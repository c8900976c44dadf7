//! File descriptors: what OpenCL calls them.

/// The extension by which memory is opened.
pub const MEMORY_EXTENSION: &str = "cl_khr_external_memory_opaque_fd";
/// The extension by which semaphores are opened.
pub const SEMAPHORE_EXTENSION: &str = "cl_khr_external_semaphore_opaque_fd";
/// `CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR`.
pub const MEMORY: u32 = 0x2060;
/// `CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR`.
pub const SEMAPHORE: u32 = 0x2055;
