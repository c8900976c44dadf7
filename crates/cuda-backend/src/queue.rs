//! Queues: streams beside the backend's own.

use crate::ffi::command::{Command, Piece};
use crate::ffi::host_memory::Pinned;
use crate::ffi::lane::{Lane, Passed};
use crate::ffi::stream::{Stream, Urgency};
use crate::kernel::CudaKernel;
use crate::launch::{Ready, linear_argument, prepare};
use crate::memory::{CudaMemory, range as range_of};
use crate::session::Session;
use interop_core::compute::{Access, Kind, Order, Priority, ReadSlot, Schedule, Use, check_fill, check_some};
use interop_core::{
    Arg, ComputeMemory, ComputeQueue, Error, Event, HostBuffer, Kernel, QueueOptions, ReadBack, Result, Target,
};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Streams of an out-of-order queue: so many operations run side by side.
const LANES: usize = 4;

/// A queue of [`crate::CudaBackend`]: a stream, or several that are dealt operations in turn where it is out of order.
pub struct CudaQueue {
    options: QueueOptions,
    schedule: Schedule,
    lanes: Arc<[Lane]>,
    next: AtomicUsize,
    session: Arc<Session>,
}

impl CudaQueue {
    pub fn new(session: &Arc<Session>, options: QueueOptions) -> Result<Self> {
        let in_order = options.order == Order::InOrder;
        let urgency = match options.priority {
            Priority::Low => Urgency::Least,
            Priority::Normal => Urgency::Middle,
            Priority::High => Urgency::Greatest,
        };
        let lane = |_| {
            let stream = Stream::new(&session.queue, urgency).map_err(session.failed())?;
            let lane = Lane::new(stream, options.profiling, session.name()).map_err(session.failed())?;
            lane.ok_or_else(|| Error::Unavailable {
                what: "a thread for a queue".into(),
                reason: "the system refused".into(),
                hint: "Use fewer queues or raise the limit on processes (ulimit -u).".into(),
            })
        };
        let lanes = (0..if in_order { 1 } else { LANES }).map(lane).collect::<Result<_>>()?;
        Ok(Self {
            options,
            schedule: Schedule::new(in_order),
            lanes,
            next: AtomicUsize::new(0),
            session: session.clone(),
        })
    }

    fn enqueue(
        &self,
        kind: Kind,
        uses: &[Use<'_>],
        wait: &[Event],
        command: Command,
        slot: Option<ReadSlot>,
    ) -> Result<Event> {
        let (session, lanes) = (self.session.clone(), self.lanes.clone());
        let lane = self.next.fetch_add(1, Ordering::Relaxed) % lanes.len();
        let is_own = |event: &dyn interop_core::compute::DeviceEvent| Passed::of(event, &self.session.queue).is_some();
        self.schedule
            .enqueue(kind, uses, wait, is_own, move |start| lanes[lane].start(start, command, slot, session.failed()))
    }

    /// Memory of `allocate`, and the range once it was checked.
    fn piece<'m>(
        &self,
        memory: &'m dyn ComputeMemory,
        range: &Range<usize>,
        operation: &'static str,
    ) -> Result<(&'m CudaMemory, Piece)> {
        let memory = memory.downcast_ref::<CudaMemory>().filter(|m| Arc::ptr_eq(&m.session, &self.session));
        let memory = memory.ok_or_else(|| self.session.foreign(operation, "memory"))?;
        check_some(range, memory.len(), operation)?;
        Ok((memory, Piece { block: memory.block(operation)?.clone(), range: range.clone() }))
    }
}

fn uses<'m>(memory: &'m CudaMemory, range: &Range<usize>, access: Access) -> Use<'m> {
    Use { hazards: &memory.hazards, range: range.clone(), access }
}

impl ComputeQueue for CudaQueue {
    fn options(&self) -> QueueOptions {
        self.options
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "CudaQueue::launch";
        let kernel = kernel.as_any().downcast_ref::<CudaKernel>().filter(|k| Arc::ptr_eq(&k.session, &self.session));
        let kernel = kernel.ok_or_else(|| self.session.foreign(OP, "kernel"))?;
        let items = target.items();
        let (memory, view) = target.into_parts();
        let (memory, target) = self.piece(memory, &view.span(), OP)?;
        let Ready { function, geometry, params } = prepare(&self.session, kernel, memory, &view, items, args)?;
        let (mut used, mut kept) = (vec![uses(memory, &target.range, Access::Write)], vec![target.block]);
        for arg in args {
            if let Arg::Memory(memory) = arg {
                let memory = linear_argument(&self.session, *memory)?;
                used.push(uses(memory, &(0..memory.len()), Access::Read));
                kept.push(memory.block(OP)?.clone());
            }
        }
        let command = Command::Launch { function, geometry, params, _memory: kept };
        self.enqueue(Kind::Command, &used, wait, command, None)
    }

    fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>, wait: &[Event]) -> Result<ReadBack> {
        let (memory, from) = self.piece(memory, &range, "CudaQueue::read")?;
        let (into, slot) = (self.host_buffer(range.len())?, ReadSlot::default());
        let used = [uses(memory, &range, Access::Read)];
        let event = self.enqueue(Kind::Command, &used, wait, Command::Read { from, into }, Some(slot.clone()))?;
        Ok(ReadBack::new(event, slot))
    }

    fn write(&self, memory: &mut dyn ComputeMemory, offset: usize, bytes: HostBuffer, wait: &[Event]) -> Result<Event> {
        let range = range_of(offset, bytes.len());
        let (memory, to) = self.piece(memory, &range, "CudaQueue::write")?;
        let used = [uses(memory, &range, Access::Write)];
        self.enqueue(Kind::Command, &used, wait, Command::Write { from: bytes, to }, None)
    }

    fn copy(
        &self,
        from: &dyn ComputeMemory,
        range: Range<usize>,
        to: &mut dyn ComputeMemory,
        offset: usize,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "CudaQueue::copy";
        let place = range_of(offset, range.len());
        let ((from, source), (to, target)) = (self.piece(from, &range, OP)?, self.piece(to, &place, OP)?);
        let used = [uses(from, &range, Access::Read), uses(to, &place, Access::Write)];
        self.enqueue(Kind::Command, &used, wait, Command::Copy { from: source, to: target }, None)
    }

    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "CudaQueue::fill";
        check_fill(&range, pattern, OP)?;
        let (memory, to) = self.piece(memory, &range, OP)?;
        let used = [uses(memory, &range, Access::Write)];
        self.enqueue(Kind::Command, &used, wait, Command::Fill { to, pattern: pattern.to_vec() }, None)
    }

    fn marker(&self, wait: &[Event]) -> Result<Event> {
        self.enqueue(Kind::Marker, &[], wait, Command::Nothing, None)
    }

    fn barrier(&self, wait: &[Event]) -> Result<Event> {
        self.enqueue(Kind::Barrier, &[], wait, Command::Nothing, None)
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        if len == 0 {
            return Err(Error::invalid("CudaQueue::host_buffer", "0 bytes asked for; give at least 1"));
        }
        let session = &self.session;
        session.pinned.take(len, || Pinned::new(&session.queue, len)).map_err(session.failed())
    }
}
