//! A display on the compute device itself, for machines with CUDA or OpenCL but without a graphics driver.
//!
//! [`ComputeDisplay`] draws with kernels of a backend, in its queue. Frames of this backend are shown in place
//! (`in-queue-in-place`: no copy, no fence). A [`ComputeTarget`] holds the result in the device's memory; it can be an
//! argument of further kernels, or be read back.
//!
//! | to | look at |
//! |---|---|
//! | create a display on a backend | [`ComputeDisplay::on`] |
//! | compute in its queue with another backend of the device | [`ComputeDisplay::beside`] |
//! | draw: fit, exposure, tone map, background | [`ComputeDisplay::draw`] |
//! | use the result elsewhere | [`ComputeTarget::memory`]; `CudaBackend::address_of` returns its address,
//! `OpenClBackend::buffer_of` its `cl_mem` |
//!
//! ```
//! use compute_display::ComputeDisplay;
//! use interop_core::{DrawOptions, Fit, Link, LinkOptions, PixelFormat, Region, SurfaceDesc};
//! use opencl_backend::OpenClBackend;
//! use std::sync::Arc;
//!
//! # fn main() -> interop_core::Result<()> {
//! # let Ok(backend) = OpenClBackend::open_best() else { return Ok(()) };
//! # let _ = stringify! {
//! let backend = OpenClBackend::open_best()?;
//! # };
//! let display = ComputeDisplay::on(Arc::new(backend))?;
//! let surface = SurfaceDesc::image(64, 32, PixelFormat::Rgba8);
//! let mut link = Link::open(display.backend().clone(), display.clone(), surface, LinkOptions::default())?;
//! link.frame(|next| next.write(&[200; 64 * 32 * 4]))?;
//! let mut target = display.create_offscreen_target(128, 128)?;
//! let options = DrawOptions::default().with_fit(Fit::Contain).with_background([0.0; 3]);
//! display.draw(link.shown()?.surface(), &mut target, Region::new(0, 0, 128, 128), options)?;
//! assert_eq!(target.read_pixels()?[4 * 64 * 128..][..4], [200; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//! Any thread may use the display, everything that it creates, and its backend.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod display;
mod display_state;
mod draw;
mod kernels;
mod memory;
mod staging;
mod surface;
mod target;

pub use display::ComputeDisplay;
pub use target::ComputeTarget;
