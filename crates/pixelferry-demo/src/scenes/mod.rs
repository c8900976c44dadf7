//! The scenes. Each gives its kernels in OpenCL C, CUDA C++, WGSL and Rust.

pub mod filter;
pub mod fluid;
pub mod plasma;
pub mod sine;
