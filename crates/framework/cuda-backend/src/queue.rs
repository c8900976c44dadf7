//! Queues: streams in addition to the backend's own.

use crate::ffi::DeviceBlock;
use crate::ffi::command::{Command, Launch};
use crate::ffi::host_memory::PinnedMemory;
use crate::ffi::stream::{Stream, Urgency};
use crate::ffi::submit_queue::{DeviceFence, SubmitQueue};
use crate::kernel::CudaKernel;
use crate::launch::{linear_argument, prepare};
use crate::session::Session;
use interop_core::compute::{DeviceEvent, LaunchOf, Priority, Queue, QueueDriver, QueueMemory, Start, SubmitQueues};
use interop_core::devices::maker_object::{Maker, own};
use interop_core::{ComputeMemory, ComputeQueue, HostBuffer, QueueOptions, Result};
use std::sync::Arc;

/// The streams of a queue: one, or several that receive operations in turn if the queue is out of order.
struct CudaQueue {
    queues: SubmitQueues<SubmitQueue>,
    session: Arc<Session>,
}

/// Creates a queue of [`crate::CudaBackend`].
pub fn queue(session: &Arc<Session>, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
    let urgency = match options.priority {
        Priority::Low => Urgency::Least,
        Priority::Normal => Urgency::Middle,
        Priority::High => Urgency::Greatest,
    };
    let queues = SubmitQueues::new(&options, || {
        let stream = Stream::new(&session.queue, urgency).map_err(session.failed())?;
        SubmitQueue::new(stream, options.profiling, session.name()).map_err(session.failed())
    })?;
    Ok(Box::new(Queue::new(options, CudaQueue { queues, session: session.clone() })))
}

impl QueueDriver for CudaQueue {
    type Block = Arc<DeviceBlock>;
    type Launch = Launch;

    fn queued<'m>(&self, memory: &'m dyn ComputeMemory) -> Result<QueueMemory<'m, Self::Block>> {
        let memory = linear_argument(&self.session, memory)?;
        Ok(QueueMemory { hazards: &memory.hazards, block: memory.block().cloned() })
    }

    fn launch(&self, launch: &LaunchOf<'_>) -> Result<Option<Launch>> {
        let kernel = own::<CudaKernel>(launch.kernel, &self.session)?;
        let target = linear_argument(&self.session, launch.target)?;
        prepare(&self.session, kernel, target, &launch.view, launch.items, launch.args).map(Some)
    }

    fn is_own(&self, event: &dyn DeviceEvent) -> bool {
        DeviceFence::of(event, &self.session.queue).is_some()
    }

    fn start(&self, start: Start, command: Command) -> Result<()> {
        let session = &self.session;
        self.queues
            .start(start, command, || Ok(Arc::new(DeviceFence::by_default(&session.queue).map_err(session.failed())?)))
    }

    fn host_buffer(&self, len: usize) -> Result<HostBuffer> {
        let session = &self.session;
        session.pinned.take(len, || PinnedMemory::new(&session.queue, len)).map_err(session.failed())
    }
}
