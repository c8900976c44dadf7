//! An engine on wgpu 29 shows frames of pixelferry, whose own wgpu is another major: by the raw Vulkan handles of its device.
//!
//! | to | call |
//! |---|---|
//! | make wgpu's device, with what sharing needs switched on, and a display on it | [`Engine::open`] |
//! | make a texture of wgpu's for frames | [`Engine::texture`] |
//! | copy the frame on show into it | [`Engine::copy`] |
//!
//! No type of wgpu's crosses: both sides know Vulkan's. Engines on other majors do the same with their names of these calls.

mod engine;
mod error;

pub use engine::Engine;
pub use error::GuestError;
