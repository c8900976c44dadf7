//! The queue of every backend: it checks operations, orders them and owns their resources; a [`QueueDriver`] gets valid
//! commands only.

use super::command::{Command, Piece};
use super::device_event::DeviceEvent;
use super::event::Event;
use super::hazard::Hazards;
use super::host_buffer::HostBuffer;
use super::kernel::Kernel;
use super::memory::ComputeMemory;
use super::queue::{ComputeQueue, QueueOptions};
use super::read_back::{ReadBack, ReadSlot};
use super::schedule::{MemoryUse, OperationKind, Schedule, Start};
use super::target::{Arg, Target};
use crate::describe::error::{Error, Result, call};
use crate::describe::view::View;
use crate::devices::ranges::{Access, check_range, range_of};
use std::ops::Range;
use std::sync::Arc;

/// A backend's memory as queues use it.
pub struct QueueMemory<'m, B> {
    /// The operations that use the memory's bytes.
    pub hazards: &'m Hazards,
    /// Keeps the memory alive. `None` where it has another owner, so that queues cannot keep it.
    pub block: Option<B>,
}

/// A launch before its memory is taken apart.
pub struct LaunchOf<'a> {
    /// The kernel; it may belong to another backend.
    pub kernel: &'a dyn Kernel,
    /// The memory that the kernel writes, which belongs to this backend.
    pub target: &'a dyn ComputeMemory,
    /// The part of the target that the kernel writes; it lies inside the memory.
    pub view: View,
    /// Number of work items, where the caller specified it.
    pub items: Option<usize>,
    /// Arguments; the memories among them belong to this backend.
    pub args: &'a [Arg<'a>],
}

/// The backend functions that [`Queue`] needs.
pub trait QueueDriver: Send + Sync + 'static {
    /// Keeps memory of the backend alive.
    type Block: Send + 'static;
    /// A kernel with its argument values, ready for the device.
    type Launch: Send + 'static;

    /// Returns the memory as queues use it, if it belongs to this very backend.
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another backend; [`Error::InvalidInput`] for memory that is not linear.
    fn queued<'m>(&self, memory: &'m dyn ComputeMemory) -> Result<QueueMemory<'m, Self::Block>>;

    /// Checks a kernel against its target and arguments. `None` where there is nothing to run.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a kernel of another backend; [`Error::InvalidInput`] for arguments that it does not take.
    fn launch(&self, launch: &LaunchOf<'_>) -> Result<Option<Self::Launch>>;

    /// True where the device itself can order operations after this event.
    fn is_own(&self, event: &dyn DeviceEvent) -> bool;

    /// Submits a command to the device after the events that it must follow, and completes `start` when it is done.
    ///
    /// # Errors
    /// Errors of the driver; the event has failed by then.
    fn start(&self, start: Start, command: Command<Self::Block, Self::Launch>) -> Result<()>;

    /// Allocates `len` bytes (at least 1) of host memory that the device copies from and to fastest.
    ///
    /// # Errors
    /// The default implementation returns none.
    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        Ok(vec![0; len].into())
    }
}

/// A queue on top of a backend's driver.
pub struct Queue<D> {
    options: QueueOptions,
    schedule: Schedule,
    driver: Arc<D>,
}

/// Checked memory of an operation.
struct CheckedOperand<'m, B> {
    used: MemoryUse<'m>,
    piece: Piece<B>,
}

impl<D: QueueDriver> Queue<D> {
    /// Creates an empty queue.
    pub fn new(options: QueueOptions, driver: D) -> Self {
        Self { options, schedule: Schedule::new(options.is_in_order()), driver: Arc::new(driver) }
    }

    fn part<'m>(
        &self,
        memory: &'m dyn ComputeMemory,
        range: Range<usize>,
        access: Access,
    ) -> Result<CheckedOperand<'m, D::Block>> {
        let QueueMemory { hazards, block } = self.driver.queued(memory)?;
        check_some(&range, memory.len())?;
        let block = block.ok_or_else(|| Error::refused(NOT_FOR_QUEUES))?;
        Ok(CheckedOperand { used: MemoryUse { hazards, range: range.clone(), access }, piece: Piece { block, range } })
    }

    fn enqueue(
        &self,
        kind: OperationKind,
        uses: &[MemoryUse<'_>],
        wait: &[Event],
        command: Command<D::Block, D::Launch>,
    ) -> Result<Event> {
        let driver = Arc::clone(&self.driver);
        let is_own = |event: &dyn DeviceEvent| self.driver.is_own(event);
        self.schedule.enqueue(kind, uses, wait, is_own, move |start| driver.start(start, command))
    }
}

impl<D: QueueDriver> ComputeQueue for Queue<D> {
    fn options(&self) -> QueueOptions {
        self.options
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event> {
        call("ComputeQueue::launch", || {
            let items = target.items();
            let (target, view) = target.into_parts();
            let written = self.part(target, view.span(), Access::Write)?;
            let (mut uses, mut memory) = (vec![written.used], Vec::new());
            for arg in args {
                if let Arg::Memory(read) = arg {
                    let read = self.part(*read, 0..read.len(), Access::Read)?;
                    uses.push(read.used);
                    memory.push(read.piece.block);
                }
            }
            let launch = self.driver.launch(&LaunchOf { kernel, target, view, items, args })?;
            let command =
                launch.map_or(Command::Nothing, |launch| Command::Launch { launch, target: written.piece, memory });
            self.enqueue(OperationKind::Command, &uses, wait, command)
        })
    }

    fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>, wait: &[Event]) -> Result<ReadBack> {
        call("ComputeQueue::read", || {
            let CheckedOperand { used, piece: from } = self.part(memory, range, Access::Read)?;
            let (into, slot) = (self.driver.host_buffer(from.range.len())?, ReadSlot::default());
            let command = Command::Read { from, into, slot: slot.clone() };
            Ok(ReadBack::new(self.enqueue(OperationKind::Command, &[used], wait, command)?, slot))
        })
    }

    fn write(&self, memory: &mut dyn ComputeMemory, offset: usize, bytes: HostBuffer, wait: &[Event]) -> Result<Event> {
        call("ComputeQueue::write", || {
            let range = range_of(offset, bytes.len());
            let CheckedOperand { used, piece: to } = self.part(memory, range, Access::Write)?;
            self.enqueue(OperationKind::Command, &[used], wait, Command::Write { from: bytes, to })
        })
    }

    fn copy(
        &self,
        from: &dyn ComputeMemory,
        range: Range<usize>,
        to: &mut dyn ComputeMemory,
        offset: usize,
        wait: &[Event],
    ) -> Result<Event> {
        call("ComputeQueue::copy", || {
            let place = range_of(offset, range.len());
            let (from, to) = (self.part(from, range, Access::Read)?, self.part(to, place, Access::Write)?);
            let command = Command::Copy { from: from.piece, to: to.piece };
            self.enqueue(OperationKind::Command, &[from.used, to.used], wait, command)
        })
    }

    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event> {
        call("ComputeQueue::fill", || {
            check_fill(&range, pattern)?;
            let CheckedOperand { used, piece: to } = self.part(memory, range, Access::Write)?;
            self.enqueue(OperationKind::Command, &[used], wait, Command::Fill { to, pattern: pattern.to_vec() })
        })
    }

    fn marker(&self, wait: &[Event]) -> Result<Event> {
        call("ComputeQueue::marker", || self.enqueue(OperationKind::Marker, &[], wait, Command::Nothing))
    }

    fn barrier(&self, wait: &[Event]) -> Result<Event> {
        call("ComputeQueue::barrier", || self.enqueue(OperationKind::Barrier, &[], wait, Command::Nothing))
    }

    fn flush(&self) -> Result<()> {
        // Each command was submitted to the device when it was queued.
        Ok(())
    }

    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        call("ComputeQueue::host_buffer", || {
            if len == 0 {
                return Err(Error::refused("0 bytes requested; give at least 1"));
            }
            self.driver.host_buffer(len)
        })
    }
}

/// Reason why queues refuse memory that they cannot keep.
const NOT_FOR_QUEUES: &str = "this memory has another owner, so queues do not accept it; use memory of allocate(), and \
                              the backend's own calls for shared memory";

fn check_fill(range: &Range<usize>, pattern: &[u8]) -> Result<()> {
    let size = pattern.len();
    if !matches!(size, 1 | 2 | 4 | 8 | 16) {
        return Err(Error::refused(format!("invalid pattern of {size} bytes; give 1, 2, 4, 8 or 16")));
    }
    if !range.start.is_multiple_of(size) || !range.end.is_multiple_of(size) {
        let problem = format!("bytes {}..{} are not whole patterns of {size} bytes", range.start, range.end);
        return Err(Error::refused(problem));
    }
    Ok(())
}

/// Checks that a range has at least one byte and lies inside memory of `len` bytes.
fn check_some(range: &Range<usize>, len: usize) -> Result<()> {
    check_range(range, len)?;
    if range.is_empty() {
        return Err(Error::refused(format!("invalid byte range {}..{}", range.start, range.end)));
    }
    Ok(())
}
