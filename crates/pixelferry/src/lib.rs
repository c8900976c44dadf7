#![doc = include_str!("../README.md")]

mod availability;
mod backends;
mod beside;
mod choice;
mod diagnose;
mod display_choice;
mod displays;
mod joint;
mod pair;
mod picture;
mod probe;

pub use availability::Availability;
pub use backends::{BackendChoice, BackendStatus, open_all_backends, open_backend, open_backend_for};
pub use choice::{Choice, Named};
/// Typed arrays on every backend: expressions, reductions, scans, random numbers.
pub use compute_arrays as arrays;
/// The display on a compute device, which its own kernels draw.
pub use compute_display::{ComputeDisplay, ComputeTarget};
pub use cpu_fallback::{CpuArgs, CpuBackend, CpuBuffer, CpuImage, CpuKernelExt, MemoryDisplay};
/// The CUDA backend: devices, and compiling kernels ahead.
pub use cuda_backend as cuda;
pub use display_choice::DisplayChoice;
pub use displays::{
    DisplayStatus, Headless, open_all_headless, open_headless, open_headless_beside, open_headless_for,
};
/// The OpenGL backend: kernels in WGSL, in the context that draws.
pub use gl_backend;
/// The OpenGL display: contexts, windows, drawing, and the names of textures and buffers.
pub use gl_display as gl;
pub use interop_core::*;
/// Backend, display and path chosen together.
pub use joint::{Basis, JointReport, JointRow, JointState, Opened, Scratch, Workload};
/// The OpenCL backend: devices and memory.
pub use opencl_backend as opencl;
pub use pair::{backend_in, open_backend_for_display, open_pair};
pub use picture::{SaveError, picture, picture_with, save_picture, save_picture_with, save_rgba8};
pub use probe::{Chosen, SystemReport, probe, probe_with};
/// The wgpu backend: kernels in WGSL (feature `wgpu`).
#[cfg(feature = "wgpu")]
pub use wgpu_backend;
/// The wgpu display: devices, drawing, and surfaces as textures and buffers (feature `wgpu`).
#[cfg(feature = "wgpu")]
pub use wgpu_display;
