//! [`QueueContext`]: the queue that operations on arrays go to.

use crate::scratch::{Scratch, ScratchMemory};
use interop_core::compute::Order;
use interop_core::{Arg, ComputeMemory, ComputeQueue, Event, Kernel, ReadBack, Result, Target};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Target of an [`crate::ArrayQueue`]'s operations.
pub(crate) struct QueueContext {
    pub queue: Arc<dyn ComputeQueue>,
    pub wait: Vec<Event>,
    /// Event of the latest operation.
    pub last: RefCell<Option<Event>>,
    pub scratch: Rc<RefCell<HashMap<Scratch, ScratchMemory>>>,
}

impl QueueContext {
    pub fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let event = self.queue.launch(kernel, target, args, &self.wait)?;
        *self.last.borrow_mut() = Some(event);
        Ok(())
    }

    /// Returns true where memory between passes may be reused now. Queues order its readers and writers, except those
    /// of a scan's state, which kernels write although it is an argument. Unless the queue is in order, that state
    /// belongs to its launch until the launch has completed.
    pub fn may_reuse(&self, which: Scratch, kept: &ScratchMemory) -> bool {
        which != Scratch::State
            || self.queue.options().order == Order::InOrder
            || kept.last.as_ref().is_none_or(Event::is_settled)
    }

    /// Returns the event of the latest operation.
    pub fn last(&self) -> Option<Event> {
        self.last.borrow().clone()
    }

    pub fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>) -> Result<ReadBack> {
        self.queue.read(memory, range, &self.wait)
    }
}
