//! wgpu computes.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod allocations;
mod backend;
mod copy_in;
#[cfg(feature = "cuda")]
mod cuda;
mod engine_buffers;
#[path = "../../../interop-core/tests/displays/paths.rs"]
mod paths;
#[path = "../../../wgsl-kernel/tests/suite/every_backend.rs"]
mod suite;
