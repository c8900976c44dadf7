//! CUDA; what needs a GPU runs with `PIXELFERRY_GPU=1`.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod external;
mod gl;
mod gpu;
mod lost_context;
mod no_cuda;
mod no_unwind;
mod opengl;
mod ptx;
mod timeline;
mod two_gpus;
mod wgpu;
