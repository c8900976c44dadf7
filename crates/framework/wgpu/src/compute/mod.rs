//! wgpu as a compute backend: kernels in WGSL, on whatever wgpu drives.
//!
//! | to get a backend | call |
//! |---|---|
//! | on a device of its own | [`WgpuBackend::open`] |
//! | on an existing device, for example a display's | [`WgpuBackend::on`] |
//!
//! On a display's own device, frames stay in its queue, by the paths `in-queue-in-place` and `in-queue-upload`:
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
//! A display in another queue of the GPU, of wgpu or another API, exports memory that kernels write: the paths
//! `exported-in-place` and `exported-upload`, on Vulkan with `VK_KHR_external_memory_fd`. Semaphores order both sides
//! where both have `VK_KHR_external_semaphore_fd`; otherwise the host waits.
//!
//! # Kernels
//! The crate [`wgsl_kernel`] describes what a kernel's source code may call, and how it names its arguments. wgpu keeps
//! every access inside its memory, on OpenGL with the checks of [`wgsl_kernel::bounded`]. Therefore
//! [`interop_core::KernelSource::wgsl`] is safe.
//!
//! # Threads
//! The backend and its kernels may be used on any thread, and each memory on one thread at a time. Launches and copies
//! return before they have completed, and keep the order of the calls. They are submitted with the next draw, read or
//! call that waits, or when four of them have been recorded, so that a frame needs one submission.
//! [`interop_core::ComputeMemory::submit`] submits them at once.

mod backend;
mod bindings;
mod copy_in;
mod device;
mod in_queue;

pub use backend::WgpuBackend;
pub use wgsl_kernel::PRELUDE;
