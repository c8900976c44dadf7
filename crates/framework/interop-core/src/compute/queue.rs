//! Queues: work that continues while the program and other queues do something else.

use super::event::Event;
use super::host_buffer::HostBuffer;
use super::kernel::Kernel;
use super::memory::ComputeMemory;
use super::read_back::ReadBack;
use super::target::{Arg, Target};
use crate::describe::error::{Error, Result};
use std::ops::Range;

/// Whether the operations of one queue wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// Each operation starts when the one queued before it has ended.
    #[default]
    InOrder,
    /// Each operation starts when its own dependencies are met: its memory, its wait list and the last barrier.
    OutOfOrder,
}

/// Priority of a queue's work against that of other queues.
///
/// ```
/// use interop_core::{Priority, QueueOptions};
///
/// let background = QueueOptions::in_order().with_priority(Priority::Low);
/// assert_ne!(background.priority, Priority::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Priority {
    /// Runs after the work of other queues.
    Low,
    /// Runs neither before nor after the work of other queues.
    #[default]
    Normal,
    /// Runs before the work of other queues.
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
    /// Whether operations run in order.
    pub order: Order,
    /// True where events have times, see [`Event::profile`].
    pub profiling: bool,
    /// Priority of the queue's work. It is a hint: devices without priorities ignore it.
    pub priority: Priority,
}

impl QueueOptions {
    /// An in-order queue without profiling, at normal priority.
    pub fn in_order() -> Self {
        Self::default()
    }

    /// An out-of-order queue without profiling, at normal priority.
    pub fn out_of_order() -> Self {
        Self { order: Order::OutOfOrder, ..Self::default() }
    }

    /// True where operations run one after another.
    pub fn is_in_order(&self) -> bool {
        self.order == Order::InOrder
    }

    /// Makes events record times ([`Event::profile`]).
    #[must_use]
    pub fn with_profiling(self) -> Self {
        Self { profiling: true, ..self }
    }

    /// Sets the priority of the queue's work.
    #[must_use]
    pub fn with_priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }
}

/// A queue of one backend. Its calls return before the work is done, with an [`Event`] or a [`ReadBack`].
///
/// # Order
/// Operations that access the same bytes of a memory, at least one of them for writing, run in the order of the calls,
/// on whichever queues they are: each memory tracks its users (see [`super::Hazards`]). Wait lists are therefore only
/// for other dependencies, and omitting one is never a data race. The backend's own calls (`launch`, `copy`, the
/// memory's `read` and so on) take part: they follow the queues' work on their memory, and queues follow them. Where an
/// operation is still held on the host (for example because it waits for a [`super::UserEvent`]), such a call blocks
/// until it is submitted.
///
/// A kernel is assumed to write its target and to read its memory arguments. A kernel that writes elsewhere breaks the
/// order, but not the memory safety of the host.
///
/// # Lifetime
/// An operation keeps its resources alive: memories, kernels, events and the queue may be dropped or leaked at once. It
/// fails where an event of its wait list fails; other operations are unaffected.
///
/// # Memory
/// Queues accept memory of [`super::ComputeBackend::allocate`]. Memory with a second owner (imports, exports) is used
/// in turns, which only the backend's own queue tracks: queues reject it with [`Error::InvalidInput`]. Compute into
/// memory of the device's own, and let the backend's own `copy` or `launch` fill shared memory.
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
    /// Returns the options of the queue.
    fn options(&self) -> QueueOptions;

    /// Queues a kernel, like [`super::ComputeBackend::launch`].
    ///
    /// # Errors
    /// The errors of [`super::ComputeBackend::launch`]; then nothing was queued.
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event>;

    /// Queues a copy to the host.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty range or one outside the memory; [`Error::Foreign`] for memory of another
    /// backend.
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

    /// Queues filling `range` with repetitions of `pattern`.
    ///
    /// # Errors
    /// The errors of [`ComputeQueue::read`]; [`Error::InvalidInput`] also where the pattern does not have 1, 2, 4, 8 or
    /// 16 bytes, or the range does not begin and end at multiples of that size.
    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event>;

    /// Returns an event that completes when the wait list is complete or, if that is empty, when all work queued before
    /// is.
    fn marker(&self, wait: &[Event]) -> Result<Event>;

    /// Returns an event that completes when the wait list and all work queued before are complete. Later work follows
    /// it.
    fn barrier(&self, wait: &[Event]) -> Result<Event>;

    /// Makes the device start. Every other call does so automatically where a driver would not.
    fn flush(&self) -> Result<()>;

    /// Waits on this thread until all work queued before has ended, successfully or not (the events tell).
    fn finish(&self) -> Result<()> {
        self.flush()?;
        self.marker(&[])?.wait()
    }

    /// Allocates host memory from and to which the device copies while it computes: page-locked where that matters. Its
    /// initial content is arbitrary.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for 0 bytes.
    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        if len == 0 {
            return Err(Error::invalid("ComputeQueue::host_buffer", "0 bytes requested; give at least 1"));
        }
        Ok(vec![0; len].into())
    }
}
