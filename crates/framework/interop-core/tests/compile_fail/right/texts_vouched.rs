//! A kernel's text compiles in an `unsafe` block, and a value of a backend's own without one.

use interop_core::{KernelSource, Language};
use std::sync::Arc;

fn main() {
    // SAFETY: nothing runs them.
    let texts = unsafe {
        KernelSource::new("k")
            .opencl_c("kernel void k() {}")
            .cuda_cpp("__global__ void k() {}")
            .ptx(".version 8.0")
            .with_text(Language::Rust, "fn k() {}")
    };
    println!("{:?}", texts.with_native(Language::Rust, Arc::new(0)));
}
