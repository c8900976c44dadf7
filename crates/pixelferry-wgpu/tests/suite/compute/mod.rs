//! wgpu computes.

mod allocations;
mod backend;
mod copy_in;
#[cfg(feature = "cuda")]
mod cuda;
mod engine_buffers;
mod show;
#[path = "../../../../wgsl-kernel/tests/suite/every_backend.rs"]
mod suite;
