//! wgpu as a display of pixelferry, and as a compute backend ([`compute`]).
//!
//! | to get a display | call |
//! |---|---|
//! | with a device of its own | [`WgpuDisplay::headless`] |
//! | on an engine's device | [`WgpuDisplay::from_engine`]; open the device by [`open_device`], or with [`device_extensions`], `add_device_extensions` |
//!
//! | to show a frame | call |
//! |---|---|
//! | in a render pass of yours | [`WgpuDisplay::draw`] |
//! | in a texture or a window's frame | [`WgpuDisplay::draw_to`] |
//! | on an object of yours | [`WgpuDisplay::surface_texture`], [`WgpuDisplay::surface_image`] |
//! | as vertices or storage | [`WgpuDisplay::surface_buffer`] |
//! | in a texture or buffer of yours, or back from there | [`WgpuDisplay::engine_image`], [`WgpuDisplay::engine_buffer`] |
//!
//! # Threads
//! Any thread may use a [`WgpuDisplay`] and its objects, as it may wgpu's own device and queue; links move with
//! [`interop_core::Link::for_any_thread`]. The draw of a frame must be submitted before the next frame is finished.
//!
//! # Sharing
//! On every device, the queue writes frames, or copies them from a ring of mapped buffers.
//!
//! On Vulkan (Linux; Windows compiles, but has never been run), a display also shares:
//!
//! - buffers that stay mapped;
//! - pages of the host (`VK_EXT_external_memory_host`);
//! - memory of a compute device (`VK_KHR_external_memory_fd`, on Windows `_win32`);
//! - textures for compute devices to open;
//! - semaphores that both sides' queues wait for (`VK_KHR_external_semaphore_fd`, `_win32`).
//!
//! The fragment shader reads linear memory in place, as storage.
//!
//! On OpenGL (Linux, feature `gl`, on by default), the crate `pixelferry-gl` creates such memory in wgpu's context:
//! permanently mapped (`GL_ARB_buffer_storage`), pinned (`GL_AMD_pinned_memory`), or opened by descriptor
//! (`GL_EXT_memory_object_fd`). Semaphores, and objects that compute devices register, are unavailable. Every display
//! has a context of its own. wgpu leaves no context current on the calling thread, and panics if a GLX context is
//! current.
//!
//! # Errors
//! wgpu reports errors to a handler that ends the program, unless an error scope catches them. Every call of this crate
//! opens error scopes and returns what they catch. The device of [`WgpuDisplay::headless`] logs errors of the user's
//! own drawing.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "compute")]
pub mod compute;
mod context;
mod display;
mod draw;
mod staging;
mod surface;

#[cfg(feature = "compute")]
pub use compute::WgpuBackend;
pub use context::adapter::{WgpuOptions, device_extensions, open_device, wgpu_adapters};
pub use context::device::WgpuDevice;
pub use context::device_extension::DeviceExtension;
pub use context::format::DRAW_FEATURES;
#[cfg(any(target_os = "linux", windows))]
pub use context::vulkan::add_device_extensions;
pub use display::contract::{WgpuBuffer, WgpuDisplay, WgpuImage};
pub use display::view_target::ViewTarget;
pub use draw::painter::DrawTarget;
pub use draw::target::OffscreenTarget;
pub use interop_core::Viewport;
pub use interop_core::{AlphaMode, DrawOptions, DrawReport, Encoding, Filter, Fit, Manner, TargetEncoding, ToneMap};

/// The version of wgpu whose types appear in this API.
pub use wgpu;
