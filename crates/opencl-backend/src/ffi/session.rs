//! A context with one device and its in-order queue.

use super::profile::{Queues, TimedCommand};
use super::{Context, Device, DeviceId, Failure, PlatformId, Queue};
use std::sync::Arc;

/// Context and queue of one device.
pub struct Session {
    queues: Queues,
    pub context: Arc<Context>,
    pub device: Device,
}

impl Session {
    pub fn open(platform: PlatformId, device: DeviceId) -> Result<Self, Failure> {
        let device = Device::root(platform, device);
        let context = Context::new(std::slice::from_ref(&device))?;
        Ok(Self { queues: Queues::new(&context, &device)?, context, device })
    }

    /// The queue in use; see [`Session::take_times`].
    pub fn queue(&self) -> &Queue {
        self.queues.current()
    }

    /// Whether commands queued from now on have times. What was queued before must be done.
    pub fn take_times(&self, take: bool) -> Result<(), Failure> {
        self.queues.switch(&self.context, &self.device, take)
    }

    /// A marker after all that is queued.
    pub fn marker(&self) -> Result<TimedCommand, Failure> {
        TimedCommand::marker(self.queue())
    }

    /// Makes the device start on what is queued.
    pub fn flush(&self) -> Result<(), Failure> {
        self.queue().flush()
    }

    /// Waits until the queue is empty.
    pub fn finish(&self) -> Result<(), Failure> {
        self.queue().finish()
    }
}
