//! Queues: work that goes on while the program, and other queues, do something else.

use super::event::Event;
use super::host_buffer::HostBuffer;
use super::kernel::Kernel;
use super::memory::ComputeMemory;
use super::read_back::ReadBack;
use super::target::{Arg, Target};
use crate::describe::error::{Error, Result};
use std::ops::Range;

/// Tells if the operations of one queue wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// Each starts when the one queued before it is over.
    #[default]
    InOrder,
    /// Each starts when what it needs is over: its memory, its wait list, the last barrier.
    OutOfOrder,
}

/// Priority of a queue's work when several queues have some.
///
/// ```
/// use interop_core::{Priority, QueueOptions};
///
/// let background = QueueOptions::in_order().with_priority(Priority::Low);
/// assert_ne!(background.priority, Priority::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Priority {
    /// After others.
    Low,
    /// Neither before nor after others.
    #[default]
    Normal,
    /// Before others.
    High,
}

/// Options of a new queue.
///
/// ```
/// use interop_core::{Priority, QueueOptions};
///
/// let copies = QueueOptions::out_of_order().with_profiling().with_priority(Priority::Low);
/// assert!(copies.profiling && !copies.is_in_order());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct QueueOptions {
    /// In or out of order.
    pub order: Order,
    /// True where events carry times, see [`Event::profile`].
    pub profiling: bool,
    /// A hint; devices without priorities ignore it.
    pub priority: Priority,
}

impl QueueOptions {
    /// In order, no profiling, normal priority.
    pub fn in_order() -> Self {
        Self::default()
    }

    /// Out of order.
    pub fn out_of_order() -> Self {
        Self { order: Order::OutOfOrder, ..Self::default() }
    }

    /// True where operations run one after another.
    pub fn is_in_order(&self) -> bool {
        self.order == Order::InOrder
    }

    /// Makes events carry times ([`Event::profile`]).
    #[must_use]
    pub fn with_profiling(self) -> Self {
        Self { profiling: true, ..self }
    }

    /// Sets the priority.
    #[must_use]
    pub fn with_priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }
}

/// A queue of one backend. Its calls return before the work is done, and give an [`Event`] or a [`ReadBack`].
///
/// # Order
/// Operations that use the same bytes of a memory, at least one of them writing, run in the order of the calls, on
/// whichever queues they are: each memory knows what uses it (see [`super::Hazards`]). So wait lists are for what
/// memory does not tell; leaving one out is never a data race. The backend's own calls (`launch`, `copy`, the
/// memory's `read` and so on) take part: they follow what queues do with their memory, and queues follow them. Where an
/// operation is still kept on the host (it waits for a [`super::UserEvent`], say) such a call blocks until it is not.
///
/// A kernel is taken to write its target and to read its arguments of kind memory. One that writes elsewhere breaks
/// the order, not the memory safety of the host.
///
/// # Lifetime
/// An operation keeps what it needs: memories, kernels, events and the queue may be dropped or forgotten at once. It
/// fails where an event of its wait list fails; nothing else fails with it.
///
/// # Memory
/// Queues take memory of [`super::ComputeBackend::allocate`]. Memory that another owner sees too (imports, exports) has
/// turns, which the backend's own queue keeps: it is refused with [`Error::InvalidInput`]. Compute into memory of
/// the device's own and let the backend's own `copy` or `launch` fill what is shared.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let backend = CpuBackend::new()?;
/// let queue = backend.queue(QueueOptions::in_order())?;
/// let (mut from, mut to) = (backend.allocate(4)?, backend.allocate(4)?);
/// queue.fill(from.as_mut(), 0..4, &[5], &[])?;
/// let copied = queue.copy(from.as_ref(), 0..4, to.as_mut(), 0, &[])?;
/// copied.wait()?;
/// assert_eq!(copied.status(), EventStatus::Complete);
/// # Ok::<(), Error>(())
/// ```
pub trait ComputeQueue: Send + Sync {
    /// Returns what it was made with.
    fn options(&self) -> QueueOptions;

    /// Queues a kernel, as [`super::ComputeBackend::launch`].
    ///
    /// # Errors
    /// The errors of [`super::ComputeBackend::launch`]; nothing was queued then.
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event>;

    /// Queues a copy to the host.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty range or one outside the memory, [`Error::Foreign`] for memory of others.
    fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>, wait: &[Event]) -> Result<ReadBack>;

    /// Queues a copy from the host to `offset`.
    ///
    /// # Errors
    /// The errors of [`ComputeQueue::read`].
    fn write(&self, memory: &mut dyn ComputeMemory, offset: usize, bytes: HostBuffer, wait: &[Event]) -> Result<Event>;

    /// Queues a copy of `range` of one memory to `offset` of another.
    ///
    /// # Errors
    /// The errors of [`ComputeQueue::read`].
    fn copy(
        &self,
        from: &dyn ComputeMemory,
        range: Range<usize>,
        to: &mut dyn ComputeMemory,
        offset: usize,
        wait: &[Event],
    ) -> Result<Event>;

    /// Queues filling `range` with `pattern` again and again.
    ///
    /// # Errors
    /// The errors of [`ComputeQueue::read`]; [`Error::InvalidInput`] also where the pattern has not 1, 2, 4, 8 or 16
    /// bytes, or the range does not begin and end at multiples of that.
    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event>;

    /// An event that is complete when the wait list is, or where that is empty, when all queued before is.
    fn marker(&self, wait: &[Event]) -> Result<Event>;

    /// An event that is complete when the wait list and all queued before are. What is queued later follows it.
    fn barrier(&self, wait: &[Event]) -> Result<Event>;

    /// Makes the device start; every other call does so on its own where a driver would not.
    fn flush(&self) -> Result<()>;

    /// Waits on this thread until all queued before is over, well or not (the events tell).
    fn finish(&self) -> Result<()> {
        self.flush()?;
        self.marker(&[])?.wait()
    }

    /// Host memory that copies go from and to while the device computes: page-locked where that matters. Its bytes are
    /// arbitrary at first.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for 0 bytes.
    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        if len == 0 {
            return Err(Error::invalid("ComputeQueue::host_buffer", "0 bytes asked for; give at least 1"));
        }
        Ok(vec![0; len].into())
    }
}
