//! Queues: OpenCL queues in addition to the backend's own.

use crate::backend_state::BackendState;
use crate::cl::{self, Buffer};
use crate::in_flight::{Clock, Command, DeviceFence, InFlight, Launch};
use crate::kernel::OpenClKernel;
use crate::launch::{LaunchPlan, plan};
use crate::memory::OpenClMemory;
use crate::pinned_buffer::PinnedBuffer;
use interop_core::compute::{
    DeviceEvent, DeviceStream, FinishedCommand, LaunchOf, Priority, Queue, QueueDriver, QueueMemory, Start,
    SubmitQueues,
};
use interop_core::devices::maker_object::own;
use interop_core::{Arg, ComputeMemory, ComputeQueue, Error, HostBuffer, QueueOptions, Result};
use std::sync::Arc;

/// The OpenCL queues of one queue.
struct OpenClQueue {
    queues: SubmitQueues<SubmitQueue>,
    shared: Arc<BackendState>,
}

/// One in-order queue. Its thread keeps it alive, and of the backend only the context.
struct SubmitQueue {
    queue: cl::Queue,
    /// Clock for the times of commands, if the queue profiles.
    clock: Option<Clock>,
    /// The owner of the fences, see [`DeviceFence`].
    owner: usize,
}

/// Creates a queue of [`crate::OpenClBackend`].
pub fn queue(shared: &Arc<BackendState>, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
    let has_priorities = shared.device.has_extension("cl_khr_priority_hints");
    let priority = match options.priority {
        Priority::Low => Some(cl::Priority::Low),
        Priority::Normal => None,
        Priority::High => Some(cl::Priority::High),
    };
    let priority = priority.filter(|_| has_priorities);
    let properties = cl::QueueOptions::default().with_profiling(options.profiling).with_priority(priority);
    let mut clock = None;
    let queues = SubmitQueues::new(&options, || {
        let queue = cl::Queue::with_options(shared.context(), &shared.device.raw, &properties)?;
        if options.profiling && clock.is_none() {
            clock = Clock::new(&queue)?;
            if clock.is_none() {
                let reason = "events of its profiling queues carry no times (clGetEventProfilingInfo)";
                return Err(shared.unsupported(reason.into()));
            }
        }
        Ok(SubmitQueue { queue, clock, owner: shared.owner() })
    })?;
    Ok(Box::new(Queue::new(options, OpenClQueue { queues, shared: shared.clone() })))
}

impl QueueDriver for OpenClQueue {
    type Block = Buffer;
    type Launch = Launch;

    fn queued<'m>(&self, memory: &'m dyn ComputeMemory) -> Result<QueueMemory<'m, Buffer>> {
        let memory = OpenClMemory::of(memory, &self.shared)?;
        let block = memory.for_others().filter(|_| memory.is_own).cloned();
        Ok(QueueMemory { hazards: &memory.hazards, block })
    }

    fn launch(&self, launch: &LaunchOf<'_>) -> Result<Option<Launch>> {
        let kernel = own::<OpenClKernel>(launch.kernel, &self.shared)?;
        let target = OpenClMemory::of(launch.target, &self.shared)?;
        let LaunchPlan { values, items } =
            plan(&self.shared, kernel, target.buffer(), launch.view, launch.items, launch.args)?;
        let Some(range) = kernel.built.range(items)? else { return Ok(None) };
        let memories =
            launch.args.iter().filter_map(|arg| if let Arg::Memory(memory) = arg { Some(*memory) } else { None });
        for memory in memories.chain([launch.target]) {
            if OpenClMemory::of(memory, &self.shared)?.for_others().is_none() {
                return Err(Error::refused("an argument has another owner, so queues cannot keep it alive"));
            }
        }
        let args = values.iter().map(cl::Arg::keep).collect();
        Ok(Some(Launch { kernel: kernel.built.raw.clone(), args, range }))
    }

    fn is_own(&self, event: &dyn DeviceEvent) -> bool {
        DeviceFence::of(event, self.shared.owner()).is_some()
    }

    fn start(&self, start: Start, command: Command) -> Result<()> {
        self.queues.start(start, command, || {
            let queue = self.shared.queue();
            let event = queue.marker(&[])?;
            queue.flush()?;
            Ok(Arc::new(DeviceFence { event, owner: self.shared.owner() }))
        })
    }

    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        let shared = &self.shared;
        if shared.is_host_memory() {
            return Ok(vec![0; len].into());
        }
        shared.pool.take(len, || PinnedBuffer::new(shared.queue(), len))
    }
}

impl DeviceStream for SubmitQueue {
    type Block = Buffer;
    type Launch = Launch;
    type InFlight = InFlight;

    const THREAD: &'static str = "pixelferry-opencl-queue";

    fn submit(&self, command: Command, after: &[Arc<dyn DeviceEvent>]) -> Result<(InFlight, Arc<dyn DeviceEvent>)> {
        let after = after.iter().filter_map(|e| DeviceFence::of(e.as_ref(), self.owner)).map(|fence| &fence.event);
        let after: Vec<_> =
            after.filter(|event| !event.queue().is_some_and(|queue| queue.is(&self.queue))).cloned().collect();
        let in_flight = InFlight::begin(command, &self.queue, &after)?;
        let fence = DeviceFence { event: in_flight.event.clone(), owner: self.owner };
        Ok((in_flight, Arc::new(fence)))
    }

    fn land(&self, in_flight: InFlight) -> FinishedCommand<Buffer, Launch> {
        let (outcome, event, command) = in_flight.land();
        let span = self.clock.filter(|_| outcome.is_ok()).and_then(|clock| clock.span(&event));
        FinishedCommand { outcome, span, command }
    }
}
