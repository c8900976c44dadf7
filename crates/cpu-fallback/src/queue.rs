//! Queues: operations on threads beside the program.

use crate::launch::{Engine, Given, Held, LAUNCH, argument};
use crate::memory::{CpuMemory, WHAT};
use crate::raw::{Bytes, Pages};
use crate::workers::{Job, Workers};
use interop_core::compute::{
    Access, Kind, NOT_FOR_QUEUES, Order, ReadSlot, Schedule, Start, Use, check_fill, check_some,
};
use interop_core::{
    Arg, ComputeMemory, ComputeQueue, Error, Event, HostBuffer, Kernel, QueueOptions, ReadBack, Result, Target,
};
use std::ops::Range;
use std::sync::Arc;

/// A queue of [`crate::CpuBackend`]: one thread where it is in order, else as many as kernels run on.
pub(crate) struct CpuQueue {
    engine: Arc<Engine>,
    options: QueueOptions,
    schedule: Schedule,
    workers: Arc<Workers>,
}

impl CpuQueue {
    pub(crate) fn new(engine: &Arc<Engine>, options: QueueOptions) -> Result<Self> {
        let in_order = options.order == Order::InOrder;
        let threads = if in_order { 1 } else { engine.crew.threads().max(2) };
        let workers = Arc::new(Workers::new(threads, options.profiling)?);
        Ok(Self { engine: engine.clone(), options, schedule: Schedule::new(in_order), workers })
    }

    fn enqueue(
        &self,
        kind: Kind,
        uses: &[Use<'_>],
        wait: &[Event],
        work: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<Event> {
        let workers = self.workers.clone();
        // Nothing is ordered by a device here: what an operation follows has ended when it is started.
        self.schedule.enqueue(
            kind,
            uses,
            wait,
            |_| false,
            move |Start { mut completer, .. }| {
                completer.submitted(None);
                workers.start(Job { completer, work: Box::new(work) });
                Ok(())
            },
        )
    }

    /// The pages of memory that queues may use.
    fn pages<'m>(&self, memory: &'m CpuMemory, operation: &'static str) -> Result<&'m Arc<Pages>> {
        memory.bytes.pages().ok_or_else(|| Error::invalid(operation, NOT_FOR_QUEUES))
    }

    /// Memory of `allocate` and the checked range.
    fn part<'m>(
        &self,
        memory: &'m dyn ComputeMemory,
        range: &Range<usize>,
        operation: &'static str,
    ) -> Result<(&'m CpuMemory, Arc<Pages>)> {
        let memory = self.engine.memory(memory, operation)?;
        check_some(range, memory.len(), operation)?;
        Ok((memory, self.pages(memory, operation)?.clone()))
    }
}

fn uses<'m>(memory: &'m CpuMemory, range: &Range<usize>, access: Access) -> Use<'m> {
    Use { hazards: &memory.hazards, range: range.clone(), access }
}

/// An argument on its way to another thread.
enum Sent {
    Value(crate::args::CpuArg<'static>),
    Memory(Arc<Pages>),
}

/// The same there.
enum Arrived {
    Value(crate::args::CpuArg<'static>),
    Memory(Bytes),
}

impl ComputeQueue for CpuQueue {
    fn options(&self) -> QueueOptions {
        self.options
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event> {
        let kernel = self.engine.kernel(kernel)?.clone();
        let (memory, view) = target.into_parts();
        let (memory, pages) = self.part(memory, &view.span(), LAUNCH)?;
        let mut used = vec![uses(memory, &view.span(), Access::Write)];
        let mut sent = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            sent.push(match self.engine.given(index, arg)? {
                Given::Value(value) => Sent::Value(value),
                Given::Memory(memory) => {
                    used.push(uses(memory, &(0..memory.len()), Access::Read));
                    Sent::Memory(self.pages(memory, LAUNCH)?.clone())
                }
            });
        }
        let engine = self.engine.clone();
        self.enqueue(Kind::Command, &used, wait, move || {
            let mut target = Bytes::from(pages);
            let mut target = target.write(view.span(), LAUNCH, &"the target")?;
            let arrived: Vec<_> = sent
                .into_iter()
                .map(|arg| match arg {
                    Sent::Value(value) => Arrived::Value(value),
                    Sent::Memory(pages) => Arrived::Memory(pages.into()),
                })
                .collect();
            let hold = |(index, arg)| {
                Ok(match arg {
                    &Arrived::Value(value) => Held::Value(value),
                    Arrived::Memory(bytes) => Held::Memory(bytes.read(0..bytes.len(), LAUNCH, &argument(index))?),
                })
            };
            let held = arrived.iter().enumerate().map(hold).collect::<Result<Vec<_>>>()?;
            engine.launch(&kernel, view, &mut target, &held)
        })
    }

    fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>, wait: &[Event]) -> Result<ReadBack> {
        const OP: &str = "CpuQueue::read";
        let (memory, pages) = self.part(memory, &range, OP)?;
        let slot = ReadSlot::default();
        let (used, into) = (uses(memory, &range, Access::Read), slot.clone());
        let event = self.enqueue(Kind::Command, &[used], wait, move || {
            into.put(Bytes::from(pages).read(range, OP, &WHAT)?.to_vec().into());
            Ok(())
        })?;
        Ok(ReadBack::new(event, slot))
    }

    fn write(&self, memory: &mut dyn ComputeMemory, offset: usize, bytes: HostBuffer, wait: &[Event]) -> Result<Event> {
        const OP: &str = "CpuQueue::write";
        let range = offset..offset.saturating_add(bytes.len());
        let (memory, pages) = self.part(memory, &range, OP)?;
        self.enqueue(Kind::Command, &[uses(memory, &range, Access::Write)], wait, move || {
            Bytes::from(pages).write(range, OP, &WHAT)?.copy_from_slice(&bytes);
            Ok(())
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
        const OP: &str = "CpuQueue::copy";
        let place = offset..offset.saturating_add(range.len());
        let (from, source) = self.part(from, &range, OP)?;
        let (to, target) = self.part(to, &place, OP)?;
        let used = [uses(from, &range, Access::Read), uses(to, &place, Access::Write)];
        self.enqueue(Kind::Command, &used, wait, move || {
            let source = Bytes::from(source);
            let source = source.read(range, OP, &"the source")?;
            Bytes::from(target).write(place, OP, &"the destination")?.copy_from_slice(&source);
            Ok(())
        })
    }

    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "CpuQueue::fill";
        check_fill(&range, pattern, OP)?;
        let (memory, pages) = self.part(memory, &range, OP)?;
        let pattern = pattern.to_vec();
        self.enqueue(Kind::Command, &[uses(memory, &range, Access::Write)], wait, move || {
            let mut pages = Bytes::from(pages);
            let mut bytes = pages.write(range, OP, &WHAT)?;
            bytes.chunks_exact_mut(pattern.len()).for_each(|chunk| chunk.copy_from_slice(&pattern));
            Ok(())
        })
    }

    fn marker(&self, wait: &[Event]) -> Result<Event> {
        self.enqueue(Kind::Marker, &[], wait, || Ok(()))
    }

    fn barrier(&self, wait: &[Event]) -> Result<Event> {
        self.enqueue(Kind::Barrier, &[], wait, || Ok(()))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}
