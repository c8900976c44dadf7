//! The `unsafe` of this crate: loops for one processor.

pub mod simd;
