//! The `unsafe` of this crate (except for the two places at which `source` takes a protocol at its word): capsules of DLPack, the program's OpenGL context, reading the memory that arrays describe, the memory of our own arrays, and Vulkan's objects as numbers.

pub mod context;
#[cfg(target_os = "linux")]
pub mod descriptor;
pub mod dlpack;
pub mod export;
pub mod memory;
pub mod owned;
#[cfg(target_os = "linux")]
pub mod vulkan;
