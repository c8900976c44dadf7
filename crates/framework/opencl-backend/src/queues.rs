//! The two queues of a backend.
//!
//! Whether a queue records times is fixed at its creation (OpenCL 3.0 API, 5.1, `CL_QUEUE_PROFILING_ENABLE`), and
//! recording may slow it down. A second queue is therefore created when times are requested.

use crate::cl::{Context, Device, Queue, QueueOptions};
use interop_core::Result;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// An in-order queue, and another one with times that can replace it.
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

    /// Returns the current queue.
    pub fn current(&self) -> &Queue {
        match self.timed.get() {
            Some(timed) if self.is_timed.load(Ordering::Acquire) => timed,
            _ => &self.plain,
        }
    }

    /// Sets whether commands queued from now on are timed. Work queued before must be done.
    pub fn switch(&self, timed: bool) -> Result<()> {
        if timed && self.timed.get().is_none() {
            let options = QueueOptions::default().with_profiling(true);
            // If two threads arrive here at once, the queue of one is dropped again.
            let _ = self.timed.set(Queue::with_options(self.plain.context(), self.plain.device(), &options)?);
        }
        self.is_timed.store(timed, Ordering::Release);
        Ok(())
    }
}
