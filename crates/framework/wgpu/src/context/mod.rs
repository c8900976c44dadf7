//! The wgpu device, the objects of its underlying API, and the capabilities of both.

pub(crate) mod adapter;
pub(crate) mod caps;
pub(crate) mod device;
pub(crate) mod device_extension;
pub(crate) mod device_state;
pub(crate) mod error;
pub(crate) mod format;
#[cfg(all(feature = "gl", target_os = "linux"))]
pub(crate) mod gl;
#[cfg(not(all(feature = "gl", target_os = "linux")))]
#[path = "gl_absent.rs"]
pub(crate) mod gl;
pub(crate) mod identity;
pub(crate) mod kept_memory;
#[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone calls some of it"))]
pub(crate) mod queue_buffer;
#[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone opens it"))]
pub(crate) mod queue_texture;
pub(crate) mod read_back;
pub(crate) mod store_formats;
#[cfg(any(target_os = "linux", windows))]
pub(crate) mod vulkan;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "vulkan_absent.rs"]
pub(crate) mod vulkan;
