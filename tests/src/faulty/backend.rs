//! A compute backend that fails when it is told to.

use super::handles::{name_in_queue, name_memory, open_memory, open_semaphore, queue};
use super::memory::FaultyMemory;
use super::semaphore::FaultyComputeSemaphore;
use super::turn::Turn;
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::{
    ComputeCaps, ComputeSemaphore, DeviceSpan, HandleType, HostBlock, MemoryCap, MemoryShape, SemaphoreCap,
    SharedHandle,
};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, ComputeQueue, CpuBackend, DeviceIdentity, Display, Error, ImageDesc, Kernel,
    KernelSource, PixelFormat, QueueOptions, RawTarget, Result, Support, SurfaceDesc, SyncKind, Target,
};
use pixelferry_faults::{Faults, Step};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The CPU backend, wrapped; it also takes and gives memory by handles.
pub struct FaultyBackend {
    inner: CpuBackend,
    device: DeviceIdentity,
    caps: ComputeCaps,
    faults: Faults,
}

/// Semaphores that both doubles offer.
pub(super) fn semaphores() -> Vec<SemaphoreCap> {
    let kinds = [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];
    kinds.map(|kind| SemaphoreCap::new(kind, Support::Yes)).to_vec()
}

/// Memory by handle, without demands.
pub(super) fn memory_caps(list: &[(HandleType, MemoryShape)]) -> Vec<MemoryCap> {
    list.iter().map(|(handle, shape)| MemoryCap::new(*handle, *shape, Support::Yes)).collect()
}

impl FaultyBackend {
    /// One that fails as `faults` says.
    pub fn new(faults: &Faults) -> Result<Arc<Self>> {
        let inner = CpuBackend::new()?;
        let device = inner.device().clone().with_name("faulty threads");
        let (image, linear) = (MemoryShape::Image, MemoryShape::Linear);
        let caps = inner
            .caps()
            .clone()
            .with_imports(memory_caps(&[
                (HandleType::HostPointer, linear),
                (HandleType::GlObject, image),
                (HandleType::GlObject, linear),
                (HandleType::OpaqueFd, image),
                (HandleType::OpaqueFd, linear),
            ]))
            .with_exports(memory_caps(&[
                (HandleType::OpaqueFd, image),
                (HandleType::OpaqueFd, linear),
                (HandleType::QueueBuffer(queue()), linear),
            ]))
            .with_image_formats(PixelFormat::ALL)
            .with_semaphores([semaphores(), vec![SemaphoreCap::new(SyncKind::SharedEvent, Support::Yes)]].concat());
        Ok(Arc::new(Self { inner, device, caps, faults: faults.clone() }))
    }

    fn wrap(&self, inner: Box<dyn ComputeMemory>, turn: Option<Rc<Turn>>) -> Box<dyn ComputeMemory> {
        let (faults, _alive) = (self.faults.clone(), self.faults.alive("memory"));
        Box::new(FaultyMemory { inner, turn, faults, _alive })
    }

    fn over(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let turn = Turn::at(block.address().addr().get());
        Ok(self.wrap(self.inner.import_host(block)?, Some(turn)))
    }

    fn foreign(&self, operation: &'static str) -> Error {
        Error::Foreign { operation, object: "memory", device: self.device.to_string() }
    }

    /// `target`, in the wrapped backend's memory.
    fn unwrap<'a>(&self, target: Target<'a>, operation: &'static str) -> Result<Target<'a>> {
        target.within(|memory| {
            let memory: &mut FaultyMemory = memory.downcast_mut().ok_or_else(|| self.foreign(operation))?;
            memory.writing(true);
            Ok(memory.inner.as_mut())
        })
    }

    fn inner_of<'a>(&self, memory: &'a dyn ComputeMemory, operation: &'static str) -> Result<&'a dyn ComputeMemory> {
        memory.downcast_ref::<FaultyMemory>().map(|m| m.inner.as_ref()).ok_or_else(|| self.foreign(operation))
    }

    fn share(&self, block: &HostBlock) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        Ok((self.over(block)?, name_memory(block)?))
    }
}

// SAFETY: all calls are handed on unchanged, or refused.
unsafe impl ComputeBackend for FaultyBackend {
    pixelferry_faults::forward! {
        & build(source: &KernelSource) -> Result<Arc<dyn Kernel>>;
        PrepareHost before & prepare_host(block: &HostBlock) -> Result<Option<Box<dyn Any>>>;
        DeferSubmission before & defer_submission() -> Result<()>;
    }

    fn device(&self) -> &DeviceIdentity {
        &self.device
    }

    fn caps(&self) -> &ComputeCaps {
        &self.caps
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        // The CPU has nothing to gain there.
        self.inner.open_in(display)
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        self.faults.check(Step::Allocate)?;
        Ok(self.wrap(self.inner.allocate(bytes)?, None))
    }

    fn allocate_send(&self, _: usize) -> Result<Box<dyn ComputeMemory + Send>> {
        let reason = "the double's memory stays on its thread".into();
        Err(Error::Unsupported { operation: "allocate_send", device: self.device().to_string(), reason })
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        self.faults.check(Step::ImportHost)?;
        self.over(block)
    }

    fn import_surface(&self, handle: &SharedHandle, _desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        self.faults.check(Step::ImportSurface)?;
        self.over(&open_memory(handle)?)
    }

    fn can_export_to(&self, display: &DeviceIdentity) -> Support {
        self.device.same_device(display)
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        _display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        self.faults.check(Step::AllocateShared)?;
        let block = HostBlock::allocate(bytes)?;
        if !matches!(handle, HandleType::QueueBuffer(_)) {
            return self.share(&block);
        }
        let memory = self.over(&block)?;
        // Kept by the memory for as long as it lives.
        Turn::at(block.address().addr().get()).in_one_queue();
        Ok((memory, name_in_queue(&block)))
    }

    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        _handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        self.faults.check(Step::AllocateSharedImage)?;
        let bytes = SurfaceDesc::Image(*image).byte_len("FaultyBackend::allocate_shared_image")?;
        self.share(&HostBlock::allocate(bytes)?)
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        self.faults.check(Step::ImportSemaphore)?;
        let (shared, faults) = (open_semaphore(handle)?, self.faults.clone());
        Ok(Box::new(FaultyComputeSemaphore { shared, faults, _alive: self.faults.alive("compute semaphore") }))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        const OP: &str = "FaultyBackend::launch";
        let args = args.iter().map(|arg| {
            Ok(match arg {
                Arg::Memory(memory) => Arg::Memory(self.inner_of(*memory, OP)?),
                other => *other,
            })
        });
        // What fails has written before: a target must not be what is shown.
        self.inner.launch(kernel, self.unwrap(target, OP)?, &args.collect::<Result<Vec<_>>>()?)?;
        self.faults.check(Step::Launch)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.inner.write_pattern(self.unwrap(target, "FaultyBackend::write_pattern")?, pattern)?;
        self.faults.check(Step::WritePattern)
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        self.inner.raw(self.unwrap(target, "FaultyBackend::raw")?)
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        const OP: &str = "FaultyBackend::copy";
        let to: &mut FaultyMemory = to.downcast_mut().ok_or_else(|| self.foreign(OP))?;
        to.writing(true);
        self.inner.copy(self.inner_of(from, OP)?, to.inner.as_mut(), range)?;
        self.faults.check(Step::Copy)
    }

    /// Links make none.
    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        let reason = format!("its memory is for links, not for queues ({options:?})");
        Err(Error::Unsupported { operation: "queue", device: self.device.to_string(), reason })
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.inner.set_timeline(on)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.inner.drain_timeline(into)
    }
}
