//! The display, the ways to create one, and its use by an engine.

pub(crate) mod bound_target;
#[cfg(feature = "window")]
pub(crate) mod camera;
pub(crate) mod contract;
#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod draw_calls;
pub(crate) mod draw_target;
pub(crate) mod engine;
pub(crate) mod engine_surface;
pub(crate) mod engine_texture;
pub(crate) mod frame_reads;
#[cfg(feature = "headless")]
pub(crate) mod headless;
#[cfg(feature = "window")]
pub(crate) mod runner;
#[cfg(feature = "window")]
pub(crate) mod window;
