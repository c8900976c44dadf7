//! The OpenCL compute backend of pixelferry: [`OpenClBackend`] implements [`interop_core::ComputeBackend`].
//!
//! The crate loads libOpenCL at run time. Where the library, a driver or a device is missing, [`devices`] and
//! [`OpenClBackend::open_best`] return an [`interop_core::Error::Unavailable`] that says what to install.
//!
//! ```no_run
//! use interop_core::{Arg, ComputeBackend, ComputeMemory, Extent, KernelSource, PixelFormat, Target};
//! use opencl_backend::OpenClBackend;
//!
//! # fn main() -> interop_core::Result<()> {
//! let backend = OpenClBackend::open_best()?;
//! let text = "__kernel void grey(PF_IMAGE(uchar4, out), float level) {
//!   int x = get_global_id(0), y = get_global_id(1);
//!   if (x >= out_width || y >= out_height) return;
//!   PF_STORE(out, x, y, pf_rgba8((float3)(level), 1));
//! }";
//! // SAFETY: each work item stores its own pixel, below the width and height, and takes a number.
//! let kernel = backend.build(&unsafe { KernelSource::new("grey").opencl_c(text) })?;
//! let mut memory = backend.allocate(640 * 480 * 4)?;
//! let target = Target::image(memory.as_mut(), Extent::new(640, 480), PixelFormat::Rgba8)?;
//! backend.launch(kernel.as_ref(), target, &[Arg::F32(0.5)])?;
//! memory.map_read(0..4, &mut |pixel| { println!("{pixel:?}"); Ok(()) })?;
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | devices and their properties | `device`, `identity` |
//! | the trait's implementation | `backend`, `memory`, `kernel`, `launch`, `pattern` |
//! | the macros for kernels | `prelude.cl`, `source` |
//! | the parameters of kernels | `params` |
//! | queues in addition to the backend's own | `queue`, `in_flight`, `pinned_buffer` |
//! | sharing with other APIs | `sharing`, `os` |
//! | times of the device's work | `command_times`, `timeline` |
//! | OpenCL itself, as safe Rust | [`cl`]: the crate `pixelferry-opencl` |
//!
//! No OpenGL-sharing call is made for a device that does not list `cl_khr_gl_sharing`: several drivers accept GL
//! properties without it and then end the process.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backend;
mod backend_state;
mod cl_objects;
mod command_times;
mod device;
mod identity;
mod in_flight;
mod kernel;
mod launch;
mod memory;
#[cfg_attr(unix, path = "os/unix.rs")]
#[cfg_attr(windows, path = "os/windows.rs")]
mod os;
mod params;
mod pattern;
mod pinned_buffer;
mod queue;
mod queues;
mod sharing;
mod source;
mod timeline;
mod work_size;

pub use backend::OpenClBackend;
pub use device::{OpenClDevice, devices};
pub use pixelferry_opencl as cl;
pub use pixelferry_opencl::GlObject;
pub use sharing::gl::{GlAccess, SharedGlObject, devices_sharing_gl};

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as opencl_backend;
