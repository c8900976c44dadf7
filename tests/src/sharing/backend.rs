//! A compute backend that takes and gives memory by handles.

use super::handles::{memory_caps, name_in_queue, name_memory, open_memory, open_semaphore, queue, semaphores};
use super::turn::Turn;
use crate::faults::{Faults, WrappedMemory, Wraps};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::driver::{
    BackendDriver, CheckToken, ComputeCaps, ComputeSemaphore, DeviceSpan, HandleType, HostBlock, MemoryDriver,
    MemoryShape, SemaphoreCap, SharedHandle,
};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, CpuBackend, DeviceIdentity, ImageDesc, Kernel, KernelSource, PixelFormat,
    RawTarget, Result, Support, SurfaceDesc, SyncKind, Target,
};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The CPU backend, wrapped.
pub struct SharingBackend {
    inner: Arc<dyn ComputeBackend>,
    device: DeviceIdentity,
    caps: ComputeCaps,
    wrapped: WrappedMemory<SharedMemory>,
    faults: Faults,
}

impl SharingBackend {
    /// One that tells `faults` what is out of turn.
    pub fn new(faults: &Faults) -> Result<Self> {
        let inner: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new()?);
        let device = inner.device().clone().with_name("sharing threads");
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
                (HandleType::QueueBuffer(queue()), image),
            ]))
            .with_exports(memory_caps(&[
                (HandleType::OpaqueFd, image),
                (HandleType::OpaqueFd, linear),
                (HandleType::QueueBuffer(queue()), linear),
            ]))
            .with_image_formats(PixelFormat::ALL)
            .with_semaphores([semaphores(), vec![SemaphoreCap::new(SyncKind::SharedEvent, Support::Yes)]].concat());
        let wrapped = WrappedMemory::of(device.to_string());
        Ok(Self { inner, device, caps, wrapped, faults: faults.clone() })
    }

    fn memory(&self, inner: Box<dyn ComputeMemory>, turn: Option<Arc<Turn>>) -> Box<dyn ComputeMemory> {
        Box::new(SharedMemory { inner, turn, faults: self.faults.clone() })
    }

    fn share(&self, block: &HostBlock) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        Ok((BackendDriver::import_host(self, block)?, name_memory(block)?))
    }
}

// SAFETY: all calls are handed on unchanged, or refused.
unsafe impl BackendDriver for SharingBackend {
    crate::forward! {
        & build(source: &KernelSource) -> Result<Arc<dyn Kernel>>;
        & prepare_host(block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>>;
        & defer_submission() -> Result<()>;
        & finish() -> Result<()>;
        & set_timeline(on: bool) -> Result<Support>;
        & drain_timeline(into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
    }

    fn device(&self) -> &DeviceIdentity {
        &self.device
    }

    fn caps(&self) -> &ComputeCaps {
        &self.caps
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(self.memory(self.inner.allocate(bytes)?, None))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let turn = Turn::at(block.address().addr().get());
        Ok(self.memory(self.inner.import_host(block)?, Some(turn)))
    }

    fn import_surface(
        &self,
        _: CheckToken,
        handle: &SharedHandle,
        _desc: &SurfaceDesc,
    ) -> Result<Box<dyn ComputeMemory>> {
        let block = open_memory(handle)?;
        let memory = BackendDriver::import_host(self, &block)?;
        if matches!(handle, SharedHandle::QueueBuffer { .. }) {
            Turn::at(block.address().addr().get()).in_one_queue();
        }
        Ok(memory)
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
        let block = HostBlock::allocate(bytes)?;
        if !matches!(handle, HandleType::QueueBuffer(_)) {
            return self.share(&block);
        }
        let memory = BackendDriver::import_host(self, &block)?;
        // Kept by the memory for as long as it lives.
        Turn::at(block.address().addr().get()).in_one_queue();
        Ok((memory, name_in_queue(&block)))
    }

    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        _handle: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let bytes = SurfaceDesc::Image(*image).byte_len()?;
        self.share(&HostBlock::allocate(bytes)?)
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        Ok(Box::new(open_semaphore(handle)?))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        const OP: &str = "SharingBackend::launch";
        self.inner.launch(kernel, self.wrapped.target(target, OP)?, &self.wrapped.args(args, OP)?)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.inner.write_pattern(self.wrapped.target(target, "SharingBackend::write_pattern")?, pattern)
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        self.inner.raw(self.wrapped.target(target, "SharingBackend::raw")?)
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        const OP: &str = "SharingBackend::copy";
        self.inner.copy(self.wrapped.memory(from, OP)?, self.wrapped.memory_mut(to, OP)?, range)
    }
}

/// Memory of the CPU backend, wrapped.
struct SharedMemory {
    inner: Box<dyn ComputeMemory>,
    /// Turn of memory that the display addresses, too.
    turn: Option<Arc<Turn>>,
    faults: Faults,
}

impl Wraps for SharedMemory {
    fn inner(&self) -> &dyn ComputeMemory {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn ComputeMemory {
        if let Some(turn) = &self.turn {
            turn.write(&self.faults, true);
        }
        self.inner.as_mut()
    }
}

impl MemoryDriver for SharedMemory {
    crate::forward! {
        & len() -> usize;
        &mut read(offset: usize, into: &mut [u8]) -> Result<()>;
        &mut map_read(range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
        &mut acquire() -> Result<()>;
        &mut submit() -> Result<()>;
        &mut release_in_queue() -> Result<()>;
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.inner_mut().write(offset, from)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.inner_mut().map_write(range, f)
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        match (&self.turn, kind) {
            (Some(_), SyncKind::SharedEvent) => Ok(()),
            _ => self.inner.set_sync(kind),
        }
    }

    fn release(&mut self) -> Result<()> {
        if let Some(turn) = &self.turn {
            turn.written();
        }
        self.inner.release()
    }
}
