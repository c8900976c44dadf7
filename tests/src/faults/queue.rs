//! Queues beside the backend's own: none of their calls fails on purpose, they only find the wrapped memory.

use crate::faults::double::Double;
use crate::faults::wrapped_memory::WrappedMemory;
use interop_core::{
    Arg, ComputeMemory, ComputeQueue, Event, HostBuffer, Kernel, QueueOptions, ReadBack, Result, Target,
};
use std::ops::Range;

/// A queue of the wrapped backend.
pub(crate) struct QueueDouble {
    pub inner: Box<dyn ComputeQueue>,
    pub wrapped: WrappedMemory<Double<dyn ComputeMemory>>,
}

impl ComputeQueue for QueueDouble {
    crate::forward! {
        & options() -> QueueOptions;
        & marker(wait: &[Event]) -> Result<Event>;
        & barrier(wait: &[Event]) -> Result<Event>;
        & flush() -> Result<()>;
        & finish() -> Result<()>;
        & host_buffer(len: usize) -> Result<HostBuffer>;
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>], wait: &[Event]) -> Result<Event> {
        const OP: &str = "QueueDouble::launch";
        self.inner.launch(kernel, self.wrapped.target(target, OP)?, &self.wrapped.args(args, OP)?, wait)
    }

    fn read(&self, memory: &dyn ComputeMemory, range: Range<usize>, wait: &[Event]) -> Result<ReadBack> {
        self.inner.read(self.wrapped.memory(memory, "QueueDouble::read")?, range, wait)
    }

    fn write(&self, memory: &mut dyn ComputeMemory, offset: usize, bytes: HostBuffer, wait: &[Event]) -> Result<Event> {
        self.inner.write(self.wrapped.memory_mut(memory, "QueueDouble::write")?, offset, bytes, wait)
    }

    fn copy(
        &self,
        from: &dyn ComputeMemory,
        range: Range<usize>,
        to: &mut dyn ComputeMemory,
        offset: usize,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "QueueDouble::copy";
        self.inner.copy(self.wrapped.memory(from, OP)?, range, self.wrapped.memory_mut(to, OP)?, offset, wait)
    }

    fn fill(
        &self,
        memory: &mut dyn ComputeMemory,
        range: Range<usize>,
        pattern: &[u8],
        wait: &[Event],
    ) -> Result<Event> {
        self.inner.fill(self.wrapped.memory_mut(memory, "QueueDouble::fill")?, range, pattern, wait)
    }
}
