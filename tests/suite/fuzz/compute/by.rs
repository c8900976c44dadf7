//! Operations by the backend's own calls, which block, or by those of a queue, which give an event.

use super::{Effect, World};
use crate::fuzz::{Choices, TurnResult, hold};
use pixelferry::{Arg, ComputeBackend, ComputeMemory, ComputeQueue, Event, HostBuffer, Kernel, Result, Target};
use std::ops::Range;
use std::sync::Arc;

pub(super) enum By {
    Backend(Arc<dyn ComputeBackend>),
    Queue {
        queue: Arc<dyn ComputeQueue>,
        /// The queue is one of the memory's backend.
        own: bool,
        wait: Vec<Event>,
    },
}

impl By {
    /// The name of an operation by a backend, or by a queue.
    pub(super) fn name(&self, blocks: &'static str, queued: &'static str) -> &'static str {
        if matches!(self, Self::Backend(_)) { blocks } else { queued }
    }

    pub(super) fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<Option<Event>> {
        match self {
            Self::Backend(backend) => backend.launch(kernel, target, args).map(|()| None),
            Self::Queue { queue, wait, .. } => queue.launch(kernel, target, args, wait).map(Some),
        }
    }

    pub(super) fn write(&self, to: &mut dyn ComputeMemory, at: usize, bytes: HostBuffer) -> Result<Option<Event>> {
        match self {
            Self::Backend(_) => to.write(at, &bytes).map(|()| None),
            Self::Queue { queue, wait, .. } => queue.write(to, at, bytes, wait).map(Some),
        }
    }

    /// A backend copies to where the bytes were.
    pub(super) fn copy(
        &self,
        from: &dyn ComputeMemory,
        range: Range<usize>,
        to: &mut dyn ComputeMemory,
        at: usize,
    ) -> Result<Option<Event>> {
        match self {
            Self::Backend(backend) => backend.copy(from, to, range).map(|()| None),
            Self::Queue { queue, wait, .. } => queue.copy(from, range, to, at, wait).map(Some),
        }
    }
}

impl World<'_> {
    /// The backend of a slot, or mostly one of its queues.
    pub(super) fn by(&self, t: &mut Choices, at: usize, queued: bool) -> By {
        if !queued {
            return By::Backend(Arc::clone(&self.engine(at).backend));
        }
        let owner = self.slots[at].owner;
        let fitting: Vec<_> = (0..self.queues.len()).filter(|i| self.queues[*i].owner == owner).collect();
        let fitting = if t.one_in(12) { None } else { t.any(&fitting) };
        let queue = &self.queues[fitting.unwrap_or_else(|| t.below(self.queues.len()))];
        By::Queue { queue: Arc::clone(&queue.queue), own: queue.owner == owner, wait: self.wait_list(t) }
    }

    /// Events of any queue, any backend and the program itself.
    pub(super) fn wait_list(&self, t: &mut Choices) -> Vec<Event> {
        let count = if t.one_in(2) { 0 } else { t.below(4) };
        let users: Vec<_> = self.work.users.iter().map(pixelferry::UserEvent::event).collect();
        let some = |t: &mut Choices| match t.one_in(3) {
            true if !users.is_empty() => t.any(&users),
            _ => t.any(&self.work.events),
        };
        (0..count).filter_map(|_| some(t)).collect()
    }

    /// Notes what an operation that was taken does.
    pub(super) fn taken(&mut self, by: By, event: Option<Event>, effect: Effect) -> TurnResult {
        let wait = match by {
            By::Backend(_) => Vec::new(),
            By::Queue { own, wait, .. } => {
                hold!(own, "a queue took the kernel or memory of another backend");
                wait
            }
        };
        self.work.taken(event, wait, effect);
        Ok(())
    }
}
