//! wgpu as a display of pixelferry.
//!
//! | to get a display | call |
//! |---|---|
//! | with a device of its own | [`WgpuDisplay::headless`] |
//! | on an engine's device | [`WgpuDisplay::from_engine`]; open the device by [`open_device`], or with [`device_extensions`] |
//!
//! | to show a frame | call |
//! |---|---|
//! | in a pass of yours | [`WgpuDisplay::draw`] |
//! | in a texture or a window's frame | [`WgpuDisplay::draw_to`] |
//! | on an object of yours | [`WgpuDisplay::surface_texture`], [`WgpuDisplay::surface_image`] |
//! | as vertices or storage | [`WgpuDisplay::surface_buffer`] |
//! | in a texture or buffer of yours, or back from there | [`WgpuDisplay::engine_image`], [`WgpuDisplay::engine_buffer`] |
//!
//! # Threads
//! A [`WgpuDisplay`] and all that it made stay on one thread; nothing here is `Send`. The device and the queue are
//! wgpu's own and may be used on any thread. But whoever draws a frame submits the draw before the next frame is
//! finished.
//!
//! # Sharing
//! On every device, the queue writes frames, or copies them from a ring of mapped buffers.
//!
//! On Vulkan (Linux; Windows compiles and was never run) a display also shares:
//!
//! - buffers that stay mapped;
//! - pages of the host (`VK_EXT_external_memory_host`);
//! - memory of a compute device (`VK_KHR_external_memory_fd`, on Windows `_win32`);
//! - textures for compute devices to open;
//! - semaphores that both sides' queues wait for (`VK_KHR_external_semaphore_fd`, `_win32`).
//!
//! The fragment shader reads linear memory in place, as storage.
//!
//! On OpenGL (Linux, feature `gl`, on by default), the crate `gl-display` makes such memory in wgpu's context: mapped
//! for good (`GL_ARB_buffer_storage`), pinned (`GL_AMD_pinned_memory`), or opened by descriptor
//! (`GL_EXT_memory_object_fd`). There are no semaphores, and no objects that compute devices register. Every display
//! has a context of its own. wgpu leaves no context current on the thread that calls it, and panics where one of GLX is
//! current.
//!
//! # Errors
//! wgpu reports errors to a handler that ends the program, unless an error scope catches them. Every call of this crate
//! opens error scopes and returns what they catch. The device of [`WgpuDisplay::headless`] logs errors of the user's
//! own drawing.

mod adapter;
mod beside;
mod buffer;
mod buffer_copies;
mod caps;
mod device;
mod device_extension;
mod device_state;
mod display;
mod drawing;
mod engine_objects;
mod engine_surfaces;
mod error;
mod format;
#[cfg(all(feature = "gl", target_os = "linux"))]
mod gl;
#[cfg(not(all(feature = "gl", target_os = "linux")))]
#[path = "gl_absent.rs"]
mod gl;
mod identity;
mod in_place;
mod painter;
mod picture;
mod ptx;
mod ptx_grid;
mod queue_buffer;
mod read_back;
mod shader;
mod splice;
mod staging;
mod steps;
mod store;
mod store_formats;
mod target;
mod texture;
mod texture_copies;
mod tools;
#[cfg(any(target_os = "linux", windows))]
mod vulkan;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "vulkan_absent.rs"]
mod vulkan;

pub use adapter::{WgpuOptions, device_extensions, open_device, open_device_for_ptx, wgpu_adapters};
pub use device::WgpuDevice;
pub use device_extension::DeviceExtension;
pub use display::{Viewport, WgpuBuffer, WgpuDisplay, WgpuImage};
pub use format::DRAW_FEATURES;
pub use interop_core::{AlphaMode, DrawOptions, Drawn, Encoding, Filter, Fit, Manner, TargetEncoding, ToneMap};
pub use painter::DrawTarget;
pub use ptx::PtxFunction;
pub use ptx_grid::PtxGrid;
pub use queue_buffer::QueueBuffer;
pub use target::OffscreenTarget;

/// The version of wgpu whose types appear in this API.
pub use wgpu;
