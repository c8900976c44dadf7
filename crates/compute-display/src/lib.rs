//! A display on the compute device itself, for machines with CUDA or OpenCL and no graphics driver.
//!
//! [`ComputeDisplay`] draws by kernels of a backend, in its queue: frames of this backend are shown where they lie
//! (`in-queue-in-place`: no copy, no fence), and a [`ComputeTarget`] holds what was drawn in the device's memory, as an argument
//! of further kernels, or to be read back.
//!
//! | to | look at |
//! |---|---|
//! | open one on a backend | [`ComputeDisplay::on`] |
//! | compute in its queue, whatever backend there is | [`ComputeDisplay::beside`] |
//! | draw: fitted, exposed, tone mapped, over a background | [`ComputeDisplay::draw`] |
//! | hand on what was drawn | [`ComputeTarget::memory`]; its address is `CudaBackend::address_of`, its `cl_mem` `OpenClBackend::buffer_of` |
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
//! The display and all that it made stay on one thread. Its backend may be used on any.

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
