//! A compute backend for every API with compute shaders in a queue: [`ShaderBackend`], over the part that depends on
//! the API ([`ShaderDevice`]).
//!
//! An API's crate implements [`ShaderDevice`] for a type of its own, wraps the backend in a public type, and passes
//! that to [`shader_backend!`](crate::shader_backend).

mod backend;
mod device;
mod image;
mod kernel;
mod memory;

pub use backend::ShaderBackend;
pub use device::{CopyMethod, ReadSource, Regions, Session, ShaderDevice, ShaderWork, Target, Writes};
pub use image::{MemorySide, ShaderImage};
pub use kernel::ShaderKernel;
pub use memory::ShaderMemory;
