//! A context with one device and its in-order queue.

use super::gl::session_properties;
use super::gl_context::GlContext;
use super::handle::{ContextKind, Handle, done};
use super::profile::{Queues, TimedCommand};
use super::shared_image::image_format;
use super::{DeviceId, Failure, PlatformId, check};
use interop_core::PixelFormat;
use opencl3::command_queue::{enqueue_marker_with_wait_list, finish, flush};
use opencl3::context::context::create_context;
use std::ptr;

/// Context and queue of one device.
pub struct Session {
    pub(super) queue: Queues,
    pub(super) context: Handle<ContextKind>,
    pub(super) device: DeviceId,
}

impl Session {
    /// `gl` only for a device that lists the extension: GL properties make some drivers end the process later.
    pub fn open(platform: PlatformId, device: DeviceId, gl: Option<GlContext>) -> Result<Self, Failure> {
        let properties = session_properties(platform, gl);
        let context = create_context(&[device.0], properties.as_ptr(), None, ptr::null_mut());
        // SAFETY: a context that was just created, whose one reference is ours.
        let context = unsafe { Handle::<ContextKind>::own("clCreateContext", context) }?;
        Ok(Self { queue: Queues::new(&context, device)?, context, device })
    }

    /// Whether commands queued from now on have times. What was queued before must be done.
    pub fn take_times(&self, take: bool) -> Result<(), Failure> {
        self.queue.switch(&self.context, self.device, take)
    }

    /// A marker after all that is queued.
    pub fn marker(&self) -> Result<TimedCommand, Failure> {
        TimedCommand::marker(&self.queue)
    }

    /// Formats of images of two dimensions that kernels read and write; none where the driver does not say.
    pub fn image_formats(&self) -> Vec<PixelFormat> {
        use opencl3::memory::{CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, cl_image_format, get_supported_image_formats};
        let found = get_supported_image_formats(self.context.raw(), CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D);
        let found = found.unwrap_or_default();
        let key = |f: &cl_image_format| (f.image_channel_order, f.image_channel_data_type);
        let has = |format: &PixelFormat| found.iter().any(|f| key(f) == key(&image_format(*format)));
        PixelFormat::ALL.into_iter().filter(has).collect()
    }

    /// Makes the device start on what is queued.
    pub fn flush(&self) -> Result<(), Failure> {
        check("clFlush", flush(self.queue.raw()))
    }

    /// Waits until the queue is empty.
    pub fn finish(&self) -> Result<(), Failure> {
        // rusticl's clFinish (seen with Mesa 22.3) does not wait for commands that were flushed before; a marker's event
        // it does wait for.
        // SAFETY: the queue is live.
        unsafe {
            let event = enqueue_marker_with_wait_list(self.queue.raw(), 0, ptr::null());
            done("clEnqueueMarkerWithWaitList", event)?;
        }
        check("clFinish", finish(self.queue.raw()))
    }
}
