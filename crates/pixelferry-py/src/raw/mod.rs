//! All the `unsafe` of this crate: capsules of DLPack, and reading the memory that arrays describe.

pub mod dlpack;
pub mod memory;
