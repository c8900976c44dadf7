//! The scenes. Each gives its kernels in OpenCL C and in Rust.

pub mod filter;
pub mod plasma;
pub mod sine;
