//! The `unsafe` of this crate (but for the two places at which `source` takes a protocol at its word): capsules of DLPack, the program's OpenGL context, reading the memory that arrays describe, and the memory of our own arrays.

pub mod context;
pub mod dlpack;
pub mod export;
pub mod memory;
pub mod owned;
