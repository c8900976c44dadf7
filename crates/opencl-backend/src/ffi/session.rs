//! A context with one device and its in-order queue.

use super::handle::{ContextKind, Handle, done};
use super::profile::{Queues, TimedCommand};
use super::{DeviceId, Failure, PlatformId, check};
use opencl3::command_queue::{enqueue_marker_with_wait_list, finish, flush};
use opencl3::context::context::{CL_CONTEXT_PLATFORM, create_context};
use std::ptr;

/// Context and queue of one device.
pub struct Session {
    pub(super) queue: Queues,
    pub(super) context: Handle<ContextKind>,
    pub(super) device: DeviceId,
}

impl Session {
    pub fn open(platform: PlatformId, device: DeviceId) -> Result<Self, Failure> {
        // The platform and nothing else: GL properties make some drivers end the process later.
        let properties = [CL_CONTEXT_PLATFORM, platform.0 as isize, 0];
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
