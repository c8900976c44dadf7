//! The two queues of a session.
//!
//! Whether a queue takes times is settled when it is made (OpenCL 3.0 API, 5.1, `CL_QUEUE_PROFILING_ENABLE`). A queue
//! that takes times may be slower. So a second queue is made where somebody asks for times.

use super::{Context, Device, Failure, Queue, QueueProperties};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// An in-order queue, which another that takes times may stand in for.
pub struct Queues {
    plain: Queue,
    timed: OnceLock<Queue>,
    is_timed: AtomicBool,
}

impl Queues {
    pub fn new(context: &Arc<Context>, device: &Device) -> Result<Self, Failure> {
        let plain = Queue::new(context, device, QueueProperties::default())?;
        Ok(Self { plain, timed: OnceLock::new(), is_timed: AtomicBool::new(false) })
    }

    /// The one in use.
    pub fn current(&self) -> &Queue {
        match self.timed.get() {
            Some(timed) if self.is_timed.load(Ordering::Acquire) => timed,
            _ => &self.plain,
        }
    }

    /// Commands queued from now on are timed, or not. What was queued before must be done.
    pub fn switch(&self, context: &Arc<Context>, device: &Device, timed: bool) -> Result<(), Failure> {
        if timed && self.timed.get().is_none() {
            let properties = QueueProperties { profiling: true, ..QueueProperties::default() };
            // If two threads come here at once, the queue of one is dropped again.
            let _ = self.timed.set(Queue::new(context, device, properties)?);
        }
        self.is_timed.store(timed, Ordering::Release);
        Ok(())
    }
}
