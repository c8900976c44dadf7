//! OpenGL (3.3 and later) as a display of pixelferry, including OpenGL ES (3.0 and later) contexts of engines; with the
//! feature `compute` also as a backend ([`compute`]).
//!
//! | to create a display | call |
//! |---|---|
//! | without a window | [`GlDisplay::headless`] |
//! | in its own window | [`run_window`], or [`GlWindow`] in your own event loop |
//! | in an engine's context | [`GlDisplay::from_current`], [`GlDisplay::from_engine`], [`GlDisplay::from_loader`] |
//!
//! # Threads and contexts
//! A [`GlDisplay`] and all its objects work on the thread on which the display's context is current. Every call checks
//! that, and returns [`interop_core::Error::WrongContext`] on others. Objects dropped there are deleted by the next call
//! that finds the context current. A link to the display stays on the thread that opened it.
//!
//! # OpenGL ES
//! The three functions for engines accept a context of OpenGL ES, which [`GlDisplay::is_es`] reports. Features that it
//! lacks are rejected with the reason, in [`interop_core::DisplayCaps`] or by the call:
//!
//! | | ES 3.0 | ES 3.1 | ES 3.2 |
//! |---|---|---|---|
//! | images of `R8`, `RG8`, `RGBA8`, `BGRA8`, `RGB10A2` | yes | yes | yes |
//! | images of `R16` | `EXT_texture_norm16` | the same | the same |
//! | images of `R16F`, `RG16F`, `RGBA16F` | `EXT_color_buffer_half_float` or `_float` | the same | yes |
//! | images of `R32F`, `RG32F`, `RGBA32F` | `EXT_color_buffer_float` | the same | yes |
//! | persistent mapping | `EXT_buffer_storage` | the same | the same |
//! | draws that read linear memory in place | no | `EXT_texture_buffer`, `OES_texture_buffer` | yes |
//! | kernels in the context ([`GlDisplay::shared_device`]) | no | yes | yes |
//! | the size of an engine's texture is checked | no | yes | yes |
//! | draws into sRGB formats that do not encode | `EXT_sRGB_write_control` | the same | the same |
//! | timelines ([`interop_core::Display::set_timeline`]), draws by a compute shader | no | no | no |
//!
//! `glReadPixels` supports few formats there, so the host selects the channels when it reads back. Downloads into
//! staging blocks ([`interop_core::Surface::download`]) are rejected where the driver cannot return the stored pixels
//! themselves.
//!
//! # Sharing by handles
//! Memory of a compute device becomes a buffer or a texture through `GL_EXT_memory_object_fd`, or on Windows (never
//! run) through `GL_EXT_memory_object_win32`.
//!
//! OpenGL cannot allocate memory or semaphores that compute devices can open, so Vulkan does: this crate loads the
//! Vulkan loader at run time, and opens the device with the context's UUID (or LUID) at first use.
//!
//! Where the extension or Vulkan is missing, [`interop_core::DisplayCaps`] or the call's error says so, and everything
//! else works.
//!
//! # State in an engine's context
//! Every call leaves an engine's context as it found it. This crate saves and restores the following state, each part
//! only where a call changes it:
//!
//! - uploads: `PIXEL_UNPACK_BUFFER`, `UNPACK_ALIGNMENT`, `_ROW_LENGTH`, `_SKIP_ROWS`, `_SKIP_PIXELS`, `_SWAP_BYTES`,
//!   `_LSB_FIRST`; below OpenGL 4.5 also the active unit's `TEXTURE_2D`;
//! - uploads from memory of a compute device: also program, active unit, unit 0's `TEXTURE_BUFFER`, and image unit 0;
//! - buffers and staging: `COPY_READ_BUFFER`, `COPY_WRITE_BUFFER`; the active unit's `TEXTURE_BUFFER` when a block is
//!   first shown in place or copied from;
//! - draws: program, vertex array, active unit, unit 0's texture and sampler, viewport 0, the colour mask of draw
//!   buffer 0, and polygon mode (not in OpenGL ES);
//! - draws, of the switches: blending (draw buffer 0), scissor (viewport 0), depth, stencil, culling, dithering, logic
//!   op, rasterizer discard, sRGB framebuffers, alpha-to-coverage, sample coverage and mask, clip distances 0 to 7;
//! - draws that blend: also how draw buffer 0 blends;
//! - draws by a compute shader: program, active unit, unit 0's texture and sampler, and image unit 0;
//! - draws into an engine's texture: also both framebuffer bindings, and the active unit's `TEXTURE_2D`;
//! - what an engine rendered, taken: what reading back saves, and the active unit's `TEXTURE_2D`;
//! - kernels of a backend in the context ([`GlDevice`]): program, the general binding of `SHADER_STORAGE_BUFFER` and one
//!   of its places for the kernel's target and for each memory among its arguments, `COPY_READ_BUFFER`,
//!   `COPY_WRITE_BUFFER`;
//! - the end of a frame that is audited ([`interop_core::audit`]): what downloads, uploads and kernels of a backend save;
//! - reading back: all state in this list, both framebuffer bindings, `PIXEL_PACK_BUFFER`, `PACK_ALIGNMENT`,
//!   `_ROW_LENGTH`, `_SKIP_ROWS`, `_SKIP_PIXELS`, `_SWAP_BYTES`, `_LSB_FIRST`.
//!
//! Two things are not restored. Calls that check for their own errors remove (and log) errors that the engine left in
//! `glGetError`. Importing host memory leaves `EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD` unbound, because OpenGL has no query
//! for its binding.
//!
//! Do not draw, read back, launch, finish a frame or upload from memory of a compute device during conditional
//! rendering, transform feedback or the validation of a bound program pipeline.
//!
//! In a context created by this crate, calls save nothing. They leave unit 0, program and vertex array unbound and the
//! fragment tests off. Blending stays as the last blending draw set it, and image unit 0 as the last upload or draw
//! did.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "compute", feature = "headless")),
    allow(dead_code, reason = "only the backend and own contexts call some of it")
)]

mod api;
#[cfg(feature = "compute")]
pub mod compute;
mod context;
mod display;
mod draw;
mod objects;
mod queue;
mod staging;
mod surface;

pub use api::gl_objects::{GlBuffer, GlTexture};
pub use api::version::{MIN_ES_VERSION, MIN_VERSION};
#[cfg(feature = "compute")]
pub use compute::{GlBackend, check_wgsl};
pub use context::current_check::CurrentCheck;
pub use context::glow_functions::GlFunctions;
pub use context::names::ObjectCounts;
pub use context::owned_object::OwnedObject;
pub use display::bound_target::BoundTarget;
#[cfg(feature = "window")]
pub use display::camera::Camera;
pub use display::contract::GlDisplay;
pub use display::engine::EngineOptions;
pub use display::frame_reads::FrameReads;
#[cfg(feature = "headless")]
pub use display::headless::{EsContext, HeadlessDevice, HeadlessOptions, headless_devices};
#[cfg(feature = "window")]
pub use display::runner::{Flow, Waker, WindowApp, run_window};
#[cfg(feature = "window")]
pub use display::window::{GlWindow, Vsync, WindowOptions};
pub use interop_core::Viewport;
pub use interop_core::{AlphaMode, DrawOptions, DrawReport, Encoding, Filter, Fit, Manner, TargetEncoding, ToneMap};
pub use queue::GlDevice;
pub use surface::engine_level::EngineTexture;
pub use surface::target::OffscreenTarget;

/// The version of glow whose types appear in this API.
pub use glow;
/// The version of winit whose types appear in this API.
#[cfg(feature = "window")]
pub use winit;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_gl;
