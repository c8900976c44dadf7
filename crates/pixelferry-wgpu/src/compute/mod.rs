//! wgpu as a compute backend: kernels in WGSL, on whatever wgpu drives.
//!
//! | to get a backend | call |
//! |---|---|
//! | on a device of its own | [`WgpuBackend::open`] |
//! | on a device that is there, a display's say | [`WgpuBackend::on`] |
//!
//! On a display's own device frames stay in its queue, by the paths `in-queue-in-place` and `in-queue-upload`:
//!
//! ```
//! use interop_core::{Arg, ComputeBackend, KernelSource, Link, LinkOptions, PixelFormat, SurfaceDesc};
//! use pixelferry_wgpu::{WgpuBackend, WgpuDisplay, WgpuOptions};
//!
//! # fn main() -> interop_core::Result<()> {
//! # let Ok(display) = WgpuDisplay::headless(WgpuOptions::default()) else { return Ok(()) };
//! # let _ = stringify! {
//! let display = WgpuDisplay::headless(WgpuOptions::default())?;
//! # };
//! let backend = std::sync::Arc::new(WgpuBackend::on(display.shared_device())?);
//! let kernel = backend.build(&KernelSource::new("grey").wgsl(
//!     "@compute @workgroup_size(8, 8)
//!      fn grey(@builtin(global_invocation_id) id: vec3<u32>) { pf_store(id.xy, vec4<f32>(pf_arg_f32(0))); }",
//! ))?;
//! let surface = SurfaceDesc::image(640, 360, PixelFormat::Rgba8);
//! let mut link = Link::open(backend, display, surface, LinkOptions::default())?;
//! link.frame(|next| next.launch(kernel.as_ref(), &[Arg::F32(0.5)]))?;
//! assert_eq!(link.read_back()?[..4], [128; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! A display in another queue of the GPU, of wgpu or another API, exports memory that kernels write: the paths `exported-in-place` and
//! `exported-upload`, on Vulkan with `VK_KHR_external_memory_fd`. Semaphores keep the sides apart where both have
//! `VK_KHR_external_semaphore_fd`, else the host waits.
//!
//! # Kernels
//! The crate [`wgsl_kernel`] says what a kernel's text may call, and how it names its arguments. wgpu keeps every
//! access inside its memory, on OpenGL with the checks of [`wgsl_kernel::bounded`]. So nobody need vouch for a text:
//! [`interop_core::KernelSource::wgsl`] is safe.
//!
//! # Threads
//! The backend and its kernels may be used on any thread, memory on one at a time. Launches and copies return before they are
//! done; they keep the order in which they were called. They begin with the next draw, read or call that waits, or when four of
//! them have come together, so that a frame is one submission: [`interop_core::ComputeMemory::submit`] begins them at once.

mod backend;
mod bindings;
mod copy_in;
mod device;

pub use backend::WgpuBackend;
pub use wgsl_kernel::PRELUDE;
