//! A compute backend that fails when it is told to.

use crate::faults::Faults;
use crate::memory::{MemoryDouble, Wrapped};
use crate::queue::QueueDouble;
use crate::semaphore::ComputeSemaphoreDouble;
use crate::step::Step;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeQueue, ComputeSemaphore, DeviceIdentity, DeviceSpan,
    Display, Error, HandleType, HostBlock, ImageDesc, Kernel, KernelSource, QueueOptions, RawTarget, Result,
    SharedHandle, Support, SurfaceDesc, Target,
};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Any backend, wrapped. No call of the queues beside the backend's own fails on purpose.
pub struct BackendDouble {
    inner: Arc<dyn ComputeBackend>,
    wrapped: Wrapped,
    faults: Faults,
}

impl BackendDouble {
    /// `inner`, failing as `faults` says.
    pub fn over(inner: Arc<dyn ComputeBackend>, faults: &Faults) -> Arc<Self> {
        let wrapped = Wrapped { device: inner.device().to_string() };
        Arc::new(Self { inner, wrapped, faults: faults.clone() })
    }

    fn memory(&self, inner: Box<dyn ComputeMemory>) -> Box<dyn ComputeMemory> {
        Box::new(MemoryDouble { inner, faults: self.faults.clone() })
    }
}

// SAFETY: all calls are handed on unchanged, or refused.
unsafe impl ComputeBackend for BackendDouble {
    crate::forward! {
        & device() -> &DeviceIdentity;
        & caps() -> &ComputeCaps;
        & build(source: &KernelSource) -> Result<Arc<dyn Kernel>>;
        PrepareHost before & prepare_host(block: &HostBlock) -> Result<Option<Box<dyn Any>>>;
        & can_export_to(display: &DeviceIdentity) -> Support;
        DeferSubmission after & defer_submission() -> Result<()>;
        & finish() -> Result<()>;
        & set_timeline(on: bool) -> Result<Support>;
        & drain_timeline(into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let opened = self.inner.open_in(display)?;
        Ok(opened.map(|inner| Self::over(inner, &self.faults) as Arc<dyn ComputeBackend>))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        self.faults.check(Step::Allocate)?;
        Ok(self.memory(self.inner.allocate(bytes)?))
    }

    fn allocate_send(&self, _: usize) -> Result<Box<dyn ComputeMemory + Send>> {
        let reason = "the double's memory stays on its thread".into();
        Err(Error::Unsupported { operation: "allocate_send", device: self.device().to_string(), reason })
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        self.faults.check(Step::ImportHost)?;
        Ok(self.memory(self.inner.import_host(block)?))
    }

    fn import_surface(&self, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        self.faults.check(Step::ImportSurface)?;
        Ok(self.memory(self.inner.import_surface(handle, desc)?))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        self.faults.check(Step::AllocateShared)?;
        let (memory, shared) = self.inner.allocate_shared(bytes, handle, display)?;
        Ok((self.memory(memory), shared))
    }

    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        self.faults.check(Step::AllocateSharedImage)?;
        let (memory, shared) = self.inner.allocate_shared_image(image, handle)?;
        Ok((self.memory(memory), shared))
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        self.faults.check(Step::ImportSemaphore)?;
        let inner = self.inner.import_semaphore(handle)?;
        Ok(Box::new(ComputeSemaphoreDouble { inner, faults: self.faults.clone() }))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        const OP: &str = "BackendDouble::launch";
        self.inner.launch(kernel, self.wrapped.target(target, OP)?, &self.wrapped.args(args, OP)?)?;
        self.faults.check(Step::Launch)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.inner.write_pattern(self.wrapped.target(target, "BackendDouble::write_pattern")?, pattern)?;
        self.faults.check(Step::WritePattern)
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        self.inner.raw(self.wrapped.target(target, "BackendDouble::raw")?)
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        const OP: &str = "BackendDouble::copy";
        self.inner.copy(self.wrapped.memory(from, OP)?, self.wrapped.memory_mut(to, OP)?, range)?;
        self.faults.check(Step::Copy)
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        Ok(Box::new(QueueDouble { inner: self.inner.queue(options)?, wrapped: self.wrapped.clone() }))
    }
}
