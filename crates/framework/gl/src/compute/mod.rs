//! OpenGL as a compute backend: kernels in WGSL or GLSL, run as compute shaders (OpenGL 4.3, OpenGL ES 3.1) in the
//! context of a display.
//!
//! | to create a backend | call |
//! |---|---|
//! | in a display's context: headless, of a window or of an engine | [`GlBackend::on`] |
//! | in a context of its own | [`GlBackend::open`] |
//! | in its own context of OpenGL ES 3.1 | [`GlBackend::open_es`] |
//!
//! In a display's context, kernels and draws use one queue: no switch between contexts, no fence and no copy, on the
//! paths `in-queue-texture`, `in-queue-in-place` and `in-queue-upload`.
//!
//! ```
//! use interop_core::{Arg, ComputeBackend, KernelSource, Link, LinkOptions, PixelFormat, SurfaceDesc};
//! use pixelferry_gl::{GlBackend, GlDisplay, HeadlessOptions};
//!
//! # fn main() -> interop_core::Result<()> {
//! # let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
//! # let _ = stringify! {
//! let display = GlDisplay::headless(HeadlessOptions::default())?;
//! # };
//! # if display.version() < (4, 3) { return Ok(()) }
//! let backend = std::sync::Arc::new(GlBackend::on(&display)?);
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
//! `exported-in-place` and `exported-upload`, with `GL_EXT_memory_object_fd`, for a backend of [`GlBackend::open`].
//! Semaphores synchronise the sides where both have `GL_EXT_semaphore_fd`; otherwise the host waits.
//!
//! # Kernels
//! [`wgsl_kernel`] documents the functions that a WGSL text may call and its arguments. The text becomes GLSL whose
//! every index is checked, so nobody needs to vouch for it: [`interop_core::KernelSource::wgsl`] is safe.
//!
//! A source may also contain GLSL, a compute shader of the user ([`interop_core::KernelSource::glsl`]), which is
//! preferred. It is a `void main()` with its `layout(local_size_x = ..)`, without a `#version` (which is `430 core`, or
//! `310 es` in OpenGL ES), and may call the functions of WGSL's prelude under the same names. The n-th memory among the
//! arguments is a separate storage block with binding n + 1. Other bindings are rejected with a reason. The driver's
//! log uses the line numbers of the text:
//!
//! ```glsl
//! layout(local_size_x = 8, local_size_y = 8) in;
//! layout(std430, binding = 1) readonly buffer Table { float table[]; };
//! void main() {
//!   uvec2 at = gl_GlobalInvocationID.xy;
//!   pf_store(at, vec4(table[at.x % 256u], pf_arg_f32(0), 0.0, 1.0));
//! }
//! ```
//!
//! # Threads
//! Any thread may own the backend and its kernels. In a display's context, calls work on the thread where it is current
//! and return [`interop_core::Error::WrongContext`] elsewhere, without losing anything; objects dropped elsewhere are
//! deleted by a later call of the backend or the display. A backend with its own context may be called on any thread.
//! Launches and copies return before they are done, and keep the order of the calls.
//!
//! # Contexts
//! In a display's context that this crate created, the backend keeps the context alive even after the display is
//! dropped, but no calls are possible then. An engine owns its context: the backend and all its objects must be dropped
//! first ([`GlDisplay::from_engine`](crate::GlDisplay::from_engine)). Its state is unchanged after each call; [the
//! crate](crate) lists what is restored.

mod backend;
mod context_thread;
mod device;
mod glsl;
mod in_queue;
mod rows;

pub use backend::GlBackend;
pub use wgsl_kernel::{PRELUDE, check as check_wgsl};
