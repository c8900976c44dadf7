//! A context with one device and its in-order queue.

use super::pixels::image_format;
use super::queues::Queues;
use super::{Failure, GlShare, TimedCommand};
use crate::context::Settings;
use crate::image_format::image_formats;
use crate::{Context, Device, Queue};
use interop_core::{Error, GlContext, PixelFormat, Result};
use std::sync::Arc;

/// Context and queue of one device.
pub struct Session {
    queues: Queues,
    pub context: Context,
    pub device: Device,
}

impl Session {
    /// `gl` only for a device that lists the extension, see [`Settings::gl`].
    pub fn open(device: &Device, gl: Option<Arc<dyn GlContext>>, gl_events: bool) -> Result<Self> {
        let settings = Settings { gl, gl_events, ..Settings::default() };
        let context = Context::open(std::slice::from_ref(device), settings).map_err(|f| f.on(device.name()))?;
        Ok(Self { queues: Queues::new(&context, device)?, context, device: device.clone() })
    }

    /// The GL context that it shares with.
    pub fn gl(&self) -> Option<&Arc<GlShare>> {
        self.context.gl_share()
    }

    pub fn error(&self, failure: Failure) -> Error {
        self.context.error(failure)
    }

    /// The queue in use; see [`Session::take_times`].
    pub fn queue(&self) -> &Queue {
        self.queues.current()
    }

    /// Tells whether commands queued from now on have times. What was queued before must be done.
    pub fn take_times(&self, take: bool) -> Result<()> {
        self.queues.switch(&self.context, &self.device, take)
    }

    /// A marker after all that is queued.
    pub fn marker(&self) -> Result<TimedCommand> {
        self.queue().marker(&[]).map(TimedCommand::marker)
    }

    /// Formats of images of two dimensions that kernels read and write; none where the driver does not say.
    pub fn image_formats(&self) -> Vec<PixelFormat> {
        use cl3::memory::{CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE};
        let found = image_formats(&self.context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D).unwrap_or_default();
        PixelFormat::ALL.into_iter().filter(|format| found.contains(&image_format(*format))).collect()
    }

    /// Makes the device start on what is queued.
    pub fn flush(&self) -> Result<()> {
        self.queue().flush()
    }

    /// Waits until the queue is empty.
    pub fn finish(&self) -> Result<()> {
        self.queue().finish()
    }
}
