//! Queues: OpenCL queues beside the backend's own.

use crate::backend_state::BackendState;
use crate::kernel::OpenClKernel;
use crate::launch::{Planned, plan, refused};
use crate::memory::OpenClMemory;
use crate::params::Params;
use interop_core::compute::{
    DeviceEvent, DeviceStream, Landed, LaunchOf, Priority, Queue, QueueDriver, Queued, Start, SubmitQueues,
};
use interop_core::devices::owned::own;
use interop_core::{ComputeMemory, ComputeQueue, Error, HostBuffer, QueueOptions, Result};
use pixelferry_opencl::base::Pinned;
use pixelferry_opencl::base::command::{self, Kept};
use pixelferry_opencl::base::in_flight::{Clock, DeviceFence, InFlight};
use pixelferry_opencl::{self as cl, Buffer};
use std::sync::Arc;

/// The OpenCL queues of a queue.
struct OpenClQueue {
    queues: SubmitQueues<SubmitQueue>,
    shared: Arc<BackendState>,
}

/// One of them, in order. Its thread keeps it, but nothing of the backend's but the context.
struct SubmitQueue {
    queue: cl::Queue,
    /// Clock for the times of commands, if the queue profiles.
    clock: Option<Clock>,
    /// The owner of the fences, see [`DeviceFence`].
    owner: usize,
}

/// A launch, and what errors say of it.
struct Launch {
    raw: command::Launch,
    kernel: Arc<str>,
    params: Arc<Params>,
    /// Number of the target's values.
    target_len: usize,
}

impl AsRef<command::Launch> for Launch {
    fn as_ref(&self) -> &command::Launch {
        &self.raw
    }
}

type Command = command::Command<Launch>;

/// A queue of [`crate::OpenClBackend`].
pub fn queue(shared: &Arc<BackendState>, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
    let has_priorities = shared.device.has_extension("cl_khr_priority_hints");
    let priority = match options.priority {
        Priority::Low => Some(cl::Priority::Low),
        Priority::Normal => None,
        Priority::High => Some(cl::Priority::High),
    };
    let priority = priority.filter(|_| has_priorities);
    let properties = cl::QueueOptions::default().with_profiling(options.profiling).with_priority(priority);
    let (session, mut clock) = (&shared.session, None);
    let queues = SubmitQueues::new(&options, || {
        let queue = cl::Queue::with_options(&session.context, &session.device, &properties)?;
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

    fn queued<'m>(&self, memory: &'m dyn ComputeMemory) -> Result<Queued<'m, Buffer>> {
        let memory = OpenClMemory::of(memory, &self.shared)?;
        let block = memory.buffer.shared().filter(|_| memory.is_own).cloned();
        Ok(Queued { hazards: &memory.hazards, block })
    }

    fn launch(&self, launch: &LaunchOf<'_>) -> Result<Option<Launch>> {
        let kernel = own::<OpenClKernel>(launch.kernel, &self.shared)?;
        let target = OpenClMemory::of(launch.target, &self.shared)?;
        let Planned { values, items, target_len } =
            plan(&self.shared, kernel, &target.buffer, launch.view, launch.items, launch.args)?;
        let Some(size) = kernel.built.work_size(items)? else { return Ok(None) };
        let values = values.iter().map(Kept::of).collect::<Option<_>>();
        let values = values.ok_or_else(|| Error::refused("an argument has another owner, which queues cannot keep"))?;
        let function = kernel.built.raw.clone();
        // SAFETY: `plan` has checked the values.
        let raw = unsafe { command::Launch::new(function, values, size.global, size.local) };
        Ok(Some(Launch { raw, kernel: kernel.name.clone(), params: kernel.params.clone(), target_len }))
    }

    fn is_own(&self, event: &dyn DeviceEvent) -> bool {
        DeviceFence::of(event, self.shared.owner()).is_some()
    }

    fn start(&self, start: Start, command: Command) -> Result<()> {
        let (session, owner) = (&self.shared.session, self.shared.owner());
        self.queues.start(start, command, || {
            let mark = session.queue().marker(&[]).and_then(|event| session.flush().map(|()| event));
            Ok(Arc::new(DeviceFence { event: mark?, owner }))
        })
    }

    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        let shared = &self.shared;
        if shared.is_host_memory() {
            return Ok(vec![0; len].into());
        }
        shared.pool.take(len, || Pinned::new(&shared.session, len))
    }
}

impl DeviceStream for SubmitQueue {
    type Block = Buffer;
    type Launch = Launch;
    type InFlight = InFlight<Launch>;

    const THREAD: &'static str = "pixelferry-opencl-queue";

    fn submit(
        &self,
        command: Command,
        after: &[Arc<dyn DeviceEvent>],
    ) -> Result<(InFlight<Launch>, Arc<dyn DeviceEvent>)> {
        let after = after.iter().filter_map(|e| DeviceFence::of(e.as_ref(), self.owner)).map(|fence| &fence.event);
        let after: Vec<_> =
            after.filter(|event| !event.queue().is_some_and(|queue| queue.is(&self.queue))).cloned().collect();
        let in_flight = InFlight::begin(command, &self.queue, &after).map_err(|given_back| match *given_back {
            (Command::Launch { launch: Launch { kernel, params, target_len, .. }, .. }, failure) => {
                refused(&kernel, &params, target_len, failure)
            }
            (_, failure) => failure.error,
        })?;
        let fence = DeviceFence { event: in_flight.event.clone(), owner: self.owner };
        Ok((in_flight, Arc::new(fence)))
    }

    fn land(&self, in_flight: InFlight<Launch>) -> Landed<Buffer, Launch> {
        let (outcome, event, command) = in_flight.land();
        let span = self.clock.filter(|_| outcome.is_ok()).and_then(|clock| clock.span(&event));
        Landed { outcome, span, command }
    }
}
