//! Frames to other processes of this user and machine (Linux), in memory that all of them have.
//!
//! [`publish`] opens a stream, which links show frames on as on any display; [`Subscriber::open`] in another process has them as memory
//! of a backend there. `pixelferry streams` lists what is published, `pixelferry view --attach NAME` shows it.
//!
//! ```
//! use pixelferry::stream::{Next, StreamOptions, Subscriber, publish};
//! use pixelferry::{BackendChoice, Link, LinkOptions, PixelFormat, SurfaceDesc, open_backend};
//! use std::time::Duration;
//!
//! let name = format!("doc-{}", std::process::id());
//! let backend = open_backend(BackendChoice::Cpu, &[])?;
//! let stream = publish(&name, backend.as_ref(), StreamOptions::default())?;
//! let desc = SurfaceDesc::image(4, 1, PixelFormat::R8);
//! let mut link = Link::open(backend.clone(), stream.clone(), desc, LinkOptions::default())?;
//! let mut subscriber = Subscriber::open(&name, &backend)?;
//!
//! link.frame(|frame| frame.write(&[1, 2, 3, 4]))?;
//! stream.publish(&link.shown()?)?;
//! if let Next::Frame(mut frame) = subscriber.next(Duration::from_secs(10))? {
//!     assert_eq!(frame.read()?, [1, 2, 3, 4]);
//! }
//! # Ok::<(), pixelferry::Error>(())
//! ```

pub use pixelferry_stream::{Listed, Next, Published, StreamDisplay, StreamFrame, StreamOptions, Subscriber, streams};

use interop_core::{ComputeBackend, Display, Result};
use std::rc::Rc;

/// Opens a stream of this name for frames that `backend` computes. Where Vulkan was built in (feature `vulkan`) and drives the same
/// device, frames lie in that device's memory, which Vulkan allocates; else in pages of the host.
///
/// # Errors
/// Those of [`StreamDisplay::open`].
pub fn publish(name: &str, backend: &dyn ComputeBackend, options: StreamOptions) -> Result<Rc<StreamDisplay>> {
    StreamDisplay::open(name, device_of(backend), options)
}

/// A display on the backend's device whose memory others open.
fn device_of(backend: &dyn ComputeBackend) -> Option<Rc<dyn Display>> {
    let device = backend.device();
    device.uuid?;
    let display = match crate::display_rows::vulkan(Some(device)) {
        Ok(headless) => headless.display(),
        Err(error) => {
            tracing::debug!(%error, "frames are published in memory of the host");
            return None;
        }
    };
    device.same_device(display.device()).is_yes().then_some(display)
}
