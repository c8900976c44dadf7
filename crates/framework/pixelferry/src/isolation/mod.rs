//! Links whose kernels run in a child process (Linux), so that a window outlives a driver that crashes or hangs.
//!
//! The child opens the backend, builds the kernels and computes frames. They reach this program through a stream's
//! memory; the display, and the last frame on it, stay here. A child that crashes, reports an error or gives no frame in
//! time is replaced: first with the same backend again, then with the next one.
//!
//! The child is a second process of the same program, so `main` begins with [`serve_child`]:
//!
//! ```standalone_crate
//! use pixelferry::isolation::{Isolation, IsolatedEvent, serve_child};
//! use pixelferry::{Argument, BackendChoice, DisplayChoice, KernelSource, LinkBuilder, PixelFormat, Scratch, SurfaceDesc};
//! use std::time::Duration;
//!
//! fn main() -> Result<(), pixelferry::Error> {
//!     if serve_child()? {
//!         return Ok(());
//!     }
//!     let grey = KernelSource::new("grey").wgsl(
//!         "@compute @workgroup_size(16, 16)
//!          fn grey(@builtin(global_invocation_id) id: vec3<u32>) {
//!            pf_store(id.xy, vec4(vec3(pf_arg_f32(0)), 1.0));
//!          }",
//!     );
//!     let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
//!     let builder = LinkBuilder::new(desc).launch(&grey, [Scratch::F32(0.0)]).display(DisplayChoice::Memory);
//!     let mut link = builder.open_isolated(Isolation::default())?;
//!     // A program with a window draws the last frame each time, whatever the child does.
//!     loop {
//!         link.launch(&[&[Argument::F32(0.25)]])?;
//!         match link.update(Duration::from_millis(10))? {
//!             IsolatedEvent::Frame { .. } => break,
//!             IsolatedEvent::Lost { reason, .. } => eprintln!("{reason}"),
//!             _ => {}
//!         }
//!     }
//!     assert_eq!(link.link().read_back()?[..4], [64, 64, 64, 255]);
//!     Ok(())
//! }
//! ```

mod isolated_link;
mod message;
mod worker;
mod worker_process;

pub use isolated_link::{IsolatedEvent, IsolatedLink};
pub use worker::serve_child;
pub use worker_process::Isolation;
