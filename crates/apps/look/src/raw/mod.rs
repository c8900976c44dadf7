//! The `unsafe` code of this crate: loops compiled for specific processors.

pub mod simd;
