//! OpenGL computes, in the context that draws.

mod backend;
mod common;
mod contexts;
mod engine_state;
mod es;
mod glsl;
mod many;
#[cfg(target_os = "linux")]
mod shared;
mod show;
#[path = "../../../../wgsl-kernel/tests/suite/every_backend.rs"]
mod suite;
mod textures;
