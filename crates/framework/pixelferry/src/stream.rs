//! Streams of frames to other processes of the same user and machine (Linux), in shared memory.
//!
//! [`publish`] opens a stream, on which links show frames as on any display; [`Subscriber::open`] in another process
//! receives them as memory of a backend there. `pixelferry streams` lists published streams, and `pixelferry view
//! --attach NAME` shows one.
//!
//! ```
//! use pixelferry::stream::{NextFrame, StreamOptions, Subscriber, publish};
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
//! if let NextFrame::Frame(mut frame) = subscriber.next(Duration::from_secs(10))? {
//!     assert_eq!(frame.read()?, [1, 2, 3, 4]);
//! }
//! # Ok::<(), pixelferry::Error>(())
//! ```

pub use pixelferry_stream::{
    HeldStreamFrame, NextFrame, PublishedFrame, StreamDisplay, StreamEntry, StreamFrame, StreamOptions, Subscriber,
    streams,
};

use interop_core::{ComputeBackend, Display, Result};
use std::sync::Arc;

/// Opens a stream of this name for frames that `backend` computes. If Vulkan is built in (feature `vulkan`) and drives
/// the same device, frames are in that device's memory, which Vulkan allocates; otherwise in pages of the host.
///
/// # Errors
/// Those of [`StreamDisplay::open`].
pub fn publish(name: &str, backend: &dyn ComputeBackend, options: StreamOptions) -> Result<Arc<StreamDisplay>> {
    StreamDisplay::open(name, device_of(backend), options)
}

/// Returns a display on the backend's device that exports memory.
fn device_of(backend: &dyn ComputeBackend) -> Option<Arc<dyn Display>> {
    let device = backend.device();
    device.uuid?;
    let display = match crate::display_rows::vulkan(Some(device)) {
        Ok(headless) => headless.display(),
        Err(error) => {
            tracing::debug!(%error, "frames are published in host memory");
            return None;
        }
    };
    device.same_device(display.device()).is_yes().then_some(display)
}
