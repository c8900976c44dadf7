//! The two queues of a backend.
//!
//! Whether a queue takes times is settled when it is made (OpenCL 3.0 API, 5.1, `CL_QUEUE_PROFILING_ENABLE`). A queue
//! that takes times may be slower. So a second queue is made where somebody asks for times.

use crate::cl::{Context, Device, Queue, QueueOptions};
use interop_core::Result;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// An in-order queue, which another that takes times may stand in for.
pub struct Queues {
    plain: Queue,
    timed: OnceLock<Queue>,
    is_timed: AtomicBool,
}

impl Queues {
    pub fn new(context: &Context, device: &Device) -> Result<Self> {
        let plain = Queue::with_options(context, device, &QueueOptions::default())?;
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
    pub fn switch(&self, timed: bool) -> Result<()> {
        if timed && self.timed.get().is_none() {
            let options = QueueOptions::default().with_profiling(true);
            // If two threads come here at once, the queue of one is dropped again.
            let _ = self.timed.set(Queue::with_options(self.plain.context(), self.plain.device(), &options)?);
        }
        self.is_timed.store(timed, Ordering::Release);
        Ok(())
    }
}
