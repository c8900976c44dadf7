//! A context with one device and its in-order queue.

use super::{Context, Device, DeviceId, Failure, PlatformId, Queue, QueueProperties};
use std::sync::Arc;

/// Context and queue of one device.
pub struct Session {
    pub queue: Queue,
    pub context: Arc<Context>,
    pub device: Device,
}

impl Session {
    pub fn open(platform: PlatformId, device: DeviceId) -> Result<Self, Failure> {
        let device = Device::root(platform, device);
        let context = Context::new(std::slice::from_ref(&device))?;
        let queue = Queue::new(&context, &device, QueueProperties::default())?;
        Ok(Self { queue, context, device })
    }

    /// Makes the device start on what is queued.
    pub fn flush(&self) -> Result<(), Failure> {
        self.queue.flush()
    }

    /// Waits until the queue is empty.
    pub fn finish(&self) -> Result<(), Failure> {
        self.queue.finish()
    }
}
