//! wgpu computes.

mod allocations;
mod backend;
mod copy_in;
mod engine_buffers;
#[cfg(target_os = "linux")]
mod shared;
mod show;
#[path = "../../../../wgsl-kernel/tests/suite/every_backend.rs"]
mod suite;
