//! OpenGL as a compute backend: kernels in WGSL or GLSL, run by compute shaders (OpenGL 4.3, OpenGL ES 3.1) in the context of a
//! display.
//!
//! | to get a backend | call |
//! |---|---|
//! | in a display's context: headless, a window's or an engine's | [`GlBackend::on`] |
//! | in a context of its own | [`GlBackend::open`] |
//! | in one of OpenGL ES 3.1 | [`GlBackend::open_es`] |
//!
//! In a display's context kernels and draws are in one queue: no switch between contexts, no fence, no copy, by the paths
//! `in-queue-texture`, `in-queue-in-place` and `in-queue-upload`.
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
//! A display in another queue of the GPU, of this API or another, exports memory that kernels write: the paths `exported-in-place` and
//! `exported-upload`, with `GL_EXT_memory_object_fd`, by [`GlBackend::open`]. Semaphores keep the sides apart where both have
//! `GL_EXT_semaphore_fd`, else the host waits.
//!
//! # Kernels
//! What a text may call, and how it names its arguments, is said by [`wgsl_kernel`]. It becomes GLSL whose every index is inside what it
//! indexes, so that a text need not be vouched for: [`interop_core::KernelSource::wgsl`] is safe.
//!
//! A source may also have GLSL, a compute shader of the user's own ([`interop_core::KernelSource::glsl`]), which is taken first. It
//! is `void main()` with its `layout(local_size_x = ..)`, without a `#version` (it is `430 core`, in OpenGL ES `310 es`), and may call the functions of
//! WGSL's prelude by the same names. The n-th memory among the arguments is a storage block of its own, with binding n + 1; what a
//! launch would not bind is refused with the reason. The driver's log has the text's own lines:
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
//! Any thread may hold the backend and its kernels. In a display's context calls work on the thread where it is current, and give
//! [`interop_core::Error::WrongContext`] elsewhere, with nothing lost; what is dropped elsewhere is deleted by a later call, the
//! backend's or the display's. A backend with a context of its own is called on any thread. Launches and copies return before they are done; they keep the order in which they were called.
//!
//! # Contexts
//! In a display's context, the backend keeps one of ours for as long as it lives, also when the display is gone; nothing can be called there then. An
//! engine's context is the engine's: the backend and all that it made go before it does
//! ([`GlDisplay::from_engine`](crate::GlDisplay::from_engine)). Its state is as before after each call; what is put back is said by [the crate](crate).

mod backend;
mod device;
mod glsl;
mod place;
mod rows;

pub use backend::GlBackend;
pub use wgsl_kernel::{PRELUDE, check as check_wgsl};
