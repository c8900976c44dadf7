//! [CubeCL](https://docs.rs/cubecl-core) as a guest of pixelferry: its kernels, written once in Rust, write frames.
//!
//! Guest, backend and display share one wgpu device and one queue. CubeCL (0.11) takes no memory of others, so that a frame costs
//! one copy on the device; the host waits for none of it.
//!
//! ```
//! use cubecl_core::{self as cubecl, prelude::*};
//! use pixelferry::{Extent, Link, LinkOptions, PixelFormat, SurfaceDesc, api::wgpu::wgpu_adapters};
//! use pixelferry_cubecl::CubeGuest;
//!
//! #[cube(launch)]
//! fn grey(pixels: &mut [u32], level: u32) {
//!     if ABSOLUTE_POS < pixels.len() {
//!         pixels[ABSOLUTE_POS] = level * 0x10101;
//!     }
//! }
//!
//! # fn main() -> pixelferry::Result<()> {
//! let adapters = wgpu_adapters(cubecl_wgpu::wgpu::Backends::VULKAN);
//! let Some(adapter) = adapters.first() else { return Ok(()) };
//! let guest = CubeGuest::open(adapter)?;
//! let extent = Extent::new(64, 48);
//! let surface = SurfaceDesc::image(extent.width, extent.height, PixelFormat::Rgba8);
//! let mut link = Link::open(guest.backend(), guest.display(), surface, LinkOptions::default())?;
//! let pixels = guest.pixels(extent)?;
//! link.frame(|next| {
//!     grey::launch(guest.client(), pixels.cubes(), pixels.cube(), pixels.arg(), 7);
//!     guest.copy(&pixels, next.target()?)
//! })?;
//! assert_eq!(link.read_back()?[..4], [7, 7, 7, 0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Panics
//! Nothing here panics. CubeCL's handler for errors that no call returned, which it sets for the device, panics; only errors in
//! the user's own drawing reach it.

mod error;
mod guest;
mod pixels;
pub mod rings;

pub use guest::CubeGuest;
pub use pixels::Pixels;
