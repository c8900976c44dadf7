//! Features of a context: versions, extensions, functions, codes and formats.

pub(crate) mod caps;
pub(crate) mod error_codes;
pub(crate) mod features;
pub(crate) mod functions;
pub(crate) mod gl_format;
pub(crate) mod gl_objects;
pub(crate) mod host_state;
pub(crate) mod identity;
pub(crate) mod memory_object;
pub(crate) mod os;
pub(crate) mod raw;
pub(crate) mod semaphore_object;
pub(crate) mod state_fns;
pub(crate) mod suffixed_fns;
pub(crate) mod texture_query;
pub(crate) mod timer;
pub(crate) mod version;
#[cfg(feature = "exports")]
pub(crate) mod vulkan;
#[cfg(not(feature = "exports"))]
#[path = "no_vulkan.rs"]
pub(crate) mod vulkan;
