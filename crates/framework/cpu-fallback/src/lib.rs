//! Compute and display with nothing but the CPU and its memory: they work on every machine.
//!
//! [`CpuBackend`] runs Rust closures ([`CpuKernelExt`]) on a thread pool of its own. [`MemoryDisplay`] shows frames in
//! plain memory, where they can be read back, compared and saved, without a window and without a graphics driver.
//!
//! | to find | look in |
//! |---|---|
//! | kernels | [`CpuKernelExt`], [`CpuImage`], [`CpuBuffer`], [`CpuArgs`] |
//! | the number of threads | [`CpuOptions`] |
//! | drawing: fit, exposure, tone map, background | [`MemoryDisplay::draw`] |
//! | pictures to save | [`MemoryDisplay::pixels_rgba8`], [`RgbaImage`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod args;
mod backend;
mod buffer;
mod crew;
mod display;
mod host;
mod image;
mod kernel;
mod launch;
mod memory;
mod pattern;
mod pods;
mod queue;
mod raw;
mod timeline;
mod workers;

pub use args::CpuArgs;
pub use backend::CpuBackend;
pub use buffer::CpuBuffer;
pub use crew::CpuOptions;
pub use display::{MemoryDisplay, OffscreenTarget, RgbaImage};
pub use image::CpuImage;
pub use kernel::CpuKernelExt;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as cpu_fallback;
