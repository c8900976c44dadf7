//! A compute backend that fails when it is told to.

use crate::faults::arm::Faults;
use crate::faults::double::Double;
use crate::faults::queue::QueueDouble;
use crate::faults::step::FaultStep;
use crate::faults::wrapped_memory::WrappedMemory;
use interop_core::compute::{AuditKernels, BackendDriver, CheckToken};
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeQueue, ComputeSemaphore, DeviceIdentity, DeviceSpan,
    Display, HandleType, HostBlock, ImageDesc, Kernel, KernelSource, QueueOptions, RawTarget, Result, SharedHandle,
    Support, SurfaceDesc, Target,
};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Any backend, wrapped. No call of the queues beside the backend's own fails on purpose.
pub struct BackendDouble {
    inner: Arc<dyn ComputeBackend>,
    wrapped: WrappedMemory<Double<dyn ComputeMemory>>,
    faults: Faults,
    audits: AuditKernels,
}

impl BackendDouble {
    /// `inner`, failing as `faults` says.
    pub fn over(inner: Arc<dyn ComputeBackend>, faults: &Faults) -> Arc<Self> {
        let wrapped = WrappedMemory::of(inner.device().to_string());
        Arc::new(Self { inner, wrapped, faults: faults.clone(), audits: AuditKernels::default() })
    }

    /// Memory that a call makes, unless that is to fail.
    fn memory(
        &self,
        step: FaultStep,
        call: impl FnOnce() -> Result<Box<dyn ComputeMemory>>,
    ) -> Result<Box<dyn ComputeMemory>> {
        Ok(Double::over(self.faults.before(step, call)?, &self.faults, "memory"))
    }

    /// Memory with a name for others.
    fn shared(
        &self,
        step: FaultStep,
        call: impl FnOnce() -> Result<(Box<dyn ComputeMemory>, SharedHandle)>,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let (memory, handle) = self.faults.before(step, call)?;
        Ok((Double::over(memory, &self.faults, "memory"), handle))
    }
}

// SAFETY: all calls are handed on unchanged, or refused.
unsafe impl BackendDriver for BackendDouble {
    crate::forward! {
        & device() -> &DeviceIdentity;
        & caps() -> &ComputeCaps;
        & build(source: &KernelSource) -> Result<Arc<dyn Kernel>>;
        PrepareHost before & prepare_host(block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>>;
        & can_export_to(display: &DeviceIdentity) -> Support;
        DeferSubmission ends & defer_submission() -> Result<()>;
        & finish() -> Result<()>;
        & set_timeline(on: bool) -> Result<Support>;
        & drain_timeline(into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
    }

    /// Not those of the wrapped backend, whose queue knows no double.
    fn audit_kernels(&self) -> Option<&AuditKernels> {
        Some(&self.audits)
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let opened = self.inner.open_in(display)?;
        Ok(opened.map(|inner| Self::over(inner, &self.faults) as Arc<dyn ComputeBackend>))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        self.memory(FaultStep::Allocate, || self.inner.allocate(bytes))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        self.memory(FaultStep::ImportHost, || self.inner.import_host(block))
    }

    fn import_surface(
        &self,
        _: CheckToken,
        handle: &SharedHandle,
        desc: &SurfaceDesc,
    ) -> Result<Box<dyn ComputeMemory>> {
        self.memory(FaultStep::ImportSurface, || self.inner.import_surface(handle, desc))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        self.shared(FaultStep::AllocateShared, || self.inner.allocate_shared(bytes, handle, display))
    }

    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        self.shared(FaultStep::AllocateSharedImage, || self.inner.allocate_shared_image(image, handle))
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let inner = self.faults.before(FaultStep::ImportSemaphore, || self.inner.import_semaphore(handle))?;
        Ok(Double::over(inner, &self.faults, "compute semaphore"))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        const OP: &str = "BackendDouble::launch";
        let (target, args) = (self.wrapped.target(target, OP)?, self.wrapped.args(args, OP)?);
        // A failing launch has written before: its target must not be on show.
        self.faults.after(FaultStep::Launch, || self.inner.launch(kernel, target, &args))
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let target = self.wrapped.target(target, "BackendDouble::write_pattern")?;
        self.faults.after(FaultStep::WritePattern, || self.inner.write_pattern(target, pattern))
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        self.inner.raw(self.wrapped.target(target, "BackendDouble::raw")?)
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        const OP: &str = "BackendDouble::copy";
        let (from, to) = (self.wrapped.memory(from, OP)?, self.wrapped.memory_mut(to, OP)?);
        self.faults.after(FaultStep::Copy, || self.inner.copy(from, to, range))
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        let wrapped = WrappedMemory::of(BackendDriver::device(self).to_string());
        Ok(Box::new(QueueDouble { inner: self.inner.queue(options)?, wrapped }))
    }
}
