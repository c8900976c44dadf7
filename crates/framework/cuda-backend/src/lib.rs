//! The CUDA compute backend of pixelferry.
//!
//! Libraries are loaded at first use: `libcuda` by [`devices`], NVRTC when a kernel in CUDA C++ is built. Where one is
//! missing or too old, the call returns an error and nothing ends the program.
//!
//! | to find | look in |
//! |---|---|
//! | devices and their identity | [`devices`], [`CudaDevice`] |
//! | the backend, and the parameters of kernels | [`CudaBackend`] |
//! | compiling CUDA C++ to PTX, also ahead of time | [`compile_ptx`] |
//! | memory and streams of other code in this process | [`CudaBackend::borrow_memory`], [`CudaBackend::stream`] |
//!
//! All `unsafe` code is in `ffi`. Driver calls go through a table of function pointers that is filled once, so that a
//! missing symbol is an error, and so that tests can replace the driver with a double.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;
mod compiler;
mod devices;
mod error;
mod external_objects;
#[cfg(test)]
mod faults;
mod ffi;
mod foreign_memory;
mod image;
mod kernel;
mod launch;
mod memory;
mod pattern;
mod plan;
mod queue;
mod queue_block;
#[cfg(test)]
mod queue_faults;
mod raw;
mod session;
mod shared_objects;
mod signature;
mod timeline;
mod turn;

pub use backend::CudaBackend;
pub use compiler::{Ptx, Variant, compile_ptx, translation_unit};
pub use devices::{CudaDevice, devices};

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as cuda_backend;
