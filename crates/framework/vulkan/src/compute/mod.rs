//! Vulkan as a compute backend: kernels in WGSL or SPIR-V, in the queue of a display.
//!
//! | to get a backend | call |
//! |---|---|
//! | on a display's device: headless or an engine's | [`VulkanBackend::on`] |
//! | on a device of its own | [`VulkanBackend::open`] |
//!
//! Kernels and the engine's submissions share one queue. There is no switch between contexts, no fence and no copy, by
//! the paths `in-queue-texture`, `in-queue-in-place` and `in-queue-upload`.
//!
//! ```
//! use interop_core::{Arg, ComputeBackend, KernelSource, Link, LinkOptions, PixelFormat, SurfaceDesc};
//! use pixelferry_vulkan::{VulkanBackend, VulkanDisplay, VulkanOptions};
//!
//! # fn main() -> interop_core::Result<()> {
//! # let Ok(display) = VulkanDisplay::headless(&VulkanOptions::default()) else { return Ok(()) };
//! # let _ = stringify! {
//! let display = VulkanDisplay::headless(&VulkanOptions::default())?;
//! # };
//! let backend = std::sync::Arc::new(VulkanBackend::on(&display)?);
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
//! A display in another queue of the GPU, of this API or another, exports memory that kernels write: the paths
//! `exported-in-place` and `exported-upload`, on devices with `VK_KHR_external_memory_fd`. Semaphores order both sides
//! where both have `VK_KHR_external_semaphore_fd`; otherwise the host waits.
//!
//! # Kernels
//! [`wgsl_kernel`] describes what the source code may call, and how it names its arguments. It becomes SPIR-V in which
//! every index is bounded, so that building it is safe. A source may also carry SPIR-V ([`SpirV`]), which takes
//! precedence.
//!
//! # Threads
//! Any thread may hold the backend, its kernels and its memory. Calls must be made on the display's thread; elsewhere
//! they return [`interop_core::Error::InvalidInput`] without other effects. Objects dropped on other threads are freed
//! by a later call on the display's thread. Launches and copies return before they have completed, and keep the order
//! of the calls.

mod backend;
mod device;
mod in_queue;
mod spirv;

pub use backend::VulkanBackend;
pub use spirv::{SPIR_V, SpirV};
