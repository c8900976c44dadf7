//! The scenes. Each has its kernels in OpenCL C, CUDA C++, WGSL and Rust.

pub mod filter;
pub mod fluid;
pub mod plasma;
pub mod sine;
