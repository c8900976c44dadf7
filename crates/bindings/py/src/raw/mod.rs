//! The `unsafe` code of this crate (except for two places where `source` trusts a protocol): DLPack capsules, the
//! program's OpenGL context, memory that arrays describe, memory of our own arrays, and Vulkan's handles.

pub mod context;
#[cfg(target_os = "linux")]
pub mod descriptor;
pub mod dlpack;
pub mod export;
pub mod memory;
pub mod owned_bytes;
#[cfg(target_os = "linux")]
pub mod vulkan;
