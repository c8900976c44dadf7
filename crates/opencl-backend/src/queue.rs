//! Queues: OpenCL queues beside the backend's own.

use crate::ffi::command::{Command, Kept, Piece};
use crate::ffi::lane::{Clock, Lane, Passed};
use crate::ffi::{LaunchFailure, Pinned, Queue, QueueProperties};
use crate::kernel::OpenClKernel;
use crate::launch::{Planned, plan, refused};
use crate::memory::OpenClMemory;
use crate::ranges::range_of;
use crate::shared::Shared;
use interop_core::compute::{
    Access, DeviceEvent, Kind, NOT_FOR_QUEUES, Order, Priority, ReadSlot, Schedule, Start, Use, check_fill, check_some,
};
use interop_core::{
    Arg, ComputeMemory, ComputeQueue, Error, Event, HostBuffer, Kernel, QueueOptions, ReadBack, Result, Target,
};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// OpenCL queues of an out-of-order queue: so many operations run side by side. Several in-order queues, because drivers
/// need not have out-of-order ones, and some that say they do run them in order.
const LANES: usize = 4;

const CL_QUEUE_PRIORITY_HIGH_KHR: u64 = 1;
const CL_QUEUE_PRIORITY_LOW_KHR: u64 = 4;

/// A queue of [`crate::OpenClBackend`].
pub struct OpenClQueue {
    options: QueueOptions,
    schedule: Schedule,
    lanes: Arc<[Lane]>,
    next: AtomicUsize,
    shared: Arc<Shared>,
}

impl OpenClQueue {
    pub fn new(shared: &Arc<Shared>, options: QueueOptions) -> Result<Self> {
        let in_order = options.order == Order::InOrder;
        let has_priorities = shared.device.has_extension("cl_khr_priority_hints");
        let priority = match options.priority {
            Priority::Low => Some(CL_QUEUE_PRIORITY_LOW_KHR),
            Priority::Normal => None,
            Priority::High => Some(CL_QUEUE_PRIORITY_HIGH_KHR),
        };
        let priority = priority.filter(|_| has_priorities);
        let properties = QueueProperties { profiling: options.profiling, priority, ..QueueProperties::default() };
        let (session, mut clock) = (&shared.session, None);
        let mut lanes = Vec::new();
        for _ in 0..if in_order { 1 } else { LANES } {
            let queue = Queue::new(&session.context, &session.device, properties).map_err(|f| shared.error(f))?;
            if options.profiling && clock.is_none() {
                clock = Clock::new(&queue).map_err(|f| shared.error(f))?;
                if clock.is_none() {
                    let reason = "events of its profiling queues carry no times (clGetEventProfilingInfo)";
                    return Err(shared.unsupported("ComputeBackend::queue", reason.into()));
                }
            }
            lanes.push(Lane::new(queue, shared.owner(), clock, shared.name().to_owned()).ok_or_else(|| {
                Error::Unavailable {
                    what: "a thread for a queue".into(),
                    reason: "the system refused".into(),
                    hint: "Use fewer queues or raise the limit on processes (ulimit -u).".into(),
                }
            })?);
        }
        let schedule = Schedule::new(in_order);
        Ok(Self { options, schedule, lanes: lanes.into(), next: AtomicUsize::new(0), shared: shared.clone() })
    }

    fn enqueue(
        &self,
        kind: Kind,
        uses: &[Use<'_>],
        wait: &[Event],
        command: Command,
        slot: Option<ReadSlot>,
        refused: impl Fn(LaunchFailure) -> Error + Send + 'static,
    ) -> Result<Event> {
        let (shared, lanes) = (self.shared.clone(), self.lanes.clone());
        let lane = self.next.fetch_add(1, Ordering::Relaxed) % lanes.len();
        let is_own = |event: &dyn DeviceEvent| Passed::of(event, shared.owner()).is_some();
        let start = {
            let shared = shared.clone();
            move |start: Start| {
                let default = if start.after_default {
                    match shared.session.queue().marker(&[]).and_then(|e| shared.session.flush().map(|()| e)) {
                        Ok(event) => Some(event),
                        Err(failure) => return Err(start.completer.refuse(shared.error(failure))),
                    }
                } else {
                    None
                };
                lanes[lane].start(start, default, command, slot, refused)
            }
        };
        self.schedule.enqueue(kind, uses, wait, is_own, start)
    }

    /// For commands whose only failures are the driver's.
    fn simple(
        &self,
        kind: Kind,
        uses: &[Use<'_>],
        wait: &[Event],
        command: Command,
        slot: Option<ReadSlot>,
    ) -> Result<Event> {
        let shared = self.shared.clone();
        self.enqueue(kind, uses, wait, command, slot, move |refused| shared.error(refused.failure))
    }

    /// Memory of `allocate`, and the range once it was checked.
    fn piece<'m>(
        &self,
        memory: &'m dyn ComputeMemory,
        range: &Range<usize>,
        operation: &'static str,
    ) -> Result<(&'m OpenClMemory, Piece)> {
        let memory = OpenClMemory::of(memory, &self.shared, operation)?;
        check_some(range, memory.len(), operation)?;
        let mem = memory
            .buffer
            .shared()
            .filter(|_| memory.is_own)
            .ok_or_else(|| Error::invalid(operation, NOT_FOR_QUEUES))?;
        Ok((memory, Piece { mem: mem.clone(), range: range.clone() }))
    }
}

fn uses<'m>(memory: &'m OpenClMemory, range: &Range<usize>, access: Access) -> Use<'m> {
    Use { hazards: &memory.hazards, range: range.clone(), access }
}

impl ComputeQueue for OpenClQueue {
    fn options(&self) -> QueueOptions {
        self.options
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "OpenClQueue::launch";
        let kernel = OpenClKernel::of(kernel, &self.shared, OP)?;
        let asked = target.items();
        let (memory, view) = target.into_parts();
        let (memory, piece) = self.piece(memory, &view.span(), OP)?;
        let mut used = vec![uses(memory, &piece.range, Access::Write)];
        for arg in args {
            if let Arg::Memory(memory) = arg {
                let (memory, piece) = self.piece(*memory, &(0..memory.len()), OP)?;
                used.push(uses(memory, &piece.range, Access::Read));
            }
        }
        let Planned { values, items, target_len } = plan(&self.shared, kernel, &memory.buffer, view, asked, args)?;
        let built = kernel.built.clone();
        let command = match built.work_size(OP, items)? {
            Some(size) => {
                let values = values.iter().map(Kept::of).collect::<Option<_>>();
                let values = values.ok_or_else(|| Error::invalid(OP, NOT_FOR_QUEUES))?;
                Command::Launch { kernel: built.raw.clone(), values, global: size.global, local: size.local }
            }
            None => Command::Nothing,
        };
        let (shared, name, params) = (self.shared.clone(), kernel.name.clone(), kernel.params.clone());
        self.enqueue(Kind::Command, &used, wait, command, None, move |failure| {
            refused(&shared, &name, &params, target_len, failure)
        })
    }

    fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>, wait: &[Event]) -> Result<ReadBack> {
        let (memory, from) = self.piece(memory, &range, "OpenClQueue::read")?;
        let (into, slot) = (self.host_buffer(range.len())?, ReadSlot::default());
        let used = [uses(memory, &range, Access::Read)];
        let event = self.simple(Kind::Command, &used, wait, Command::Read { from, into }, Some(slot.clone()))?;
        Ok(ReadBack::new(event, slot))
    }

    fn write(&self, memory: &mut dyn ComputeMemory, offset: usize, bytes: HostBuffer, wait: &[Event]) -> Result<Event> {
        let range = range_of(offset, bytes.len());
        let (memory, to) = self.piece(memory, &range, "OpenClQueue::write")?;
        let used = [uses(memory, &range, Access::Write)];
        self.simple(Kind::Command, &used, wait, Command::Write { from: bytes, to }, None)
    }

    fn copy(
        &self,
        from: &dyn ComputeMemory,
        range: Range<usize>,
        to: &mut dyn ComputeMemory,
        offset: usize,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "OpenClQueue::copy";
        let place = range_of(offset, range.len());
        let ((from, source), (to, target)) = (self.piece(from, &range, OP)?, self.piece(to, &place, OP)?);
        let used = [uses(from, &range, Access::Read), uses(to, &place, Access::Write)];
        self.simple(Kind::Command, &used, wait, Command::Copy { from: source, to: target }, None)
    }

    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "OpenClQueue::fill";
        check_fill(&range, pattern, OP)?;
        let (memory, to) = self.piece(memory, &range, OP)?;
        let used = [uses(memory, &range, Access::Write)];
        self.simple(Kind::Command, &used, wait, Command::Fill { to, pattern: pattern.to_vec() }, None)
    }

    fn marker(&self, wait: &[Event]) -> Result<Event> {
        self.simple(Kind::Marker, &[], wait, Command::Nothing, None)
    }

    fn barrier(&self, wait: &[Event]) -> Result<Event> {
        self.simple(Kind::Barrier, &[], wait, Command::Nothing, None)
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        if len == 0 {
            return Err(Error::invalid("OpenClQueue::host_buffer", "0 bytes asked for; give at least 1"));
        }
        let shared = &self.shared;
        if shared.is_host_memory() {
            return Ok(vec![0; len].into());
        }
        shared.pool.take(len, || Pinned::new(&shared.session, len)).map_err(|f| shared.error(f))
    }
}
