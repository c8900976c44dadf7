//! The CUDA backend: one device, one stream.

use crate::devices::{CudaDevice, devices};
use crate::ffi::DeviceBlock;
use crate::ffi::graphics::{self, Resource};
use crate::ffi::host_memory::RegisteredMemory;
use crate::image::{CudaImage, Texture};
use crate::kernel::CudaKernel;
use crate::launch;
use crate::memory::{CudaMemory, Store};
use crate::pattern::PatternKernels;
use crate::queue::queue;
use crate::queue_block;
use crate::session::Session;
use crate::shared_objects;
use interop_core::compute::Access;
use interop_core::compute::{AuditKernels, BackendDriver, CheckToken};
use interop_core::describe::pattern::Pattern;
use interop_core::devices::maker_object::{find, own};
use interop_core::{
    Arg, ComputeCaps, ComputeMemory, ComputeQueue, ComputeSemaphore, DeviceIdentity, DeviceSpan, HandleType, HostBlock,
    ImageDesc, Kernel, KernelSource, MemoryShape, QueueOptions, RawTarget, Result, SharedHandle, Support, SurfaceDesc,
    Target,
};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// CUDA on one device: its primary context (`cuDevicePrimaryCtxRetain`), and one stream of the highest priority in it
/// (`cuStreamCreateWithPriority`).
///
/// Threads: every call makes the context current on the calling thread and then restores the previous one, so any
/// thread may call, and other CUDA code in the process is undisturbed. Memory of OpenGL objects also requires their
/// context to be current on the calling thread.
///
/// # Kernels
/// NVRTC compiles CUDA C++ with the macros of [`KernelSource`]. PTX is used unchanged, and preferred where both are
/// given. Its entry has the kernel's name and these parameters, followed by the user's own:
///
/// | target | parameters |
/// |---|---|
/// | image | `.u64` address of pixel (0, 0), `.s64` row pitch in bytes (may be negative), `.s32` width, `.s32` height |
/// | buffer | `.u64` address, `.u64` length in bytes |
/// | texture, entry `<name>_surface` (may be missing) | `.align 8 .b8 [24]`: `u64` surface object, `s32` column and row of pixel (0, 0) in the texture, `s32` step from row to row (1 or -1), 4 bytes of nothing; then `.s32` width, `.s32` height |
///
/// The launch covers the target with blocks of at most 32x8 (images) or 256 (buffers) threads: check the bounds.
///
/// A kernel that cannot write a texture's own memory (because it uses `PF_AT`, or is PTX without the entry for
/// textures) writes linear memory instead: the part of the texture is copied there before and back afterwards, which
/// costs two more copies on the device.
pub struct CudaBackend {
    patterns: PatternKernels,
    audits: AuditKernels,
    pub(crate) session: Arc<Session>,
}

impl CudaBackend {
    /// Opens a device from the list of [`devices`] (`cuDevicePrimaryCtxRetain`, `cuStreamCreateWithPriority`).
    ///
    /// # Errors
    /// [`interop_core::Error::Driver`] where the context or stream cannot be created (no memory, device in exclusive
    /// use).
    pub fn open(device: &CudaDevice) -> Result<Self> {
        Ok(Self {
            patterns: PatternKernels::default(),
            audits: AuditKernels::default(),
            session: Session::open(device)?,
        })
    }

    /// Opens the device that the driver prefers (the first of `cuDeviceGet`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] without a usable device; otherwise those of [`CudaBackend::open`].
    pub fn open_best() -> Result<Self> {
        Self::open_first(|_| true)
    }

    /// Opens the device of an existing display ([`DeviceIdentity::same_device`], by `cuDeviceGetUuid` and
    /// `cuDeviceGetPCIBusId`), or otherwise the device that the driver prefers.
    ///
    /// # Errors
    /// The errors of [`CudaBackend::open_best`].
    pub fn open_best_for(display: &DeviceIdentity) -> Result<Self> {
        Self::open_first(|device| device.same_device(display).is_yes())
    }

    fn open_first(is_preferred: impl Fn(&DeviceIdentity) -> bool) -> Result<Self> {
        let devices = devices()?;
        let best = devices
            .iter()
            .find(|device| is_preferred(device.identity()))
            .or(devices.first())
            .ok_or_else(|| crate::error::unavailable("the driver reports no device", ""))?;
        Self::open(best)
    }

    /// Returns the free bytes of device memory, over all processes (`cuMemGetInfo`).
    pub fn free_memory(&self) -> Result<u64> {
        self.session.queue.free_memory().map(|bytes| bytes as u64).map_err(self.session.failed())
    }

    fn register(&self, block: &HostBlock) -> Result<RegisteredMemory> {
        self.session
            .caps
            .can_import(HandleType::HostPointer, MemoryShape::Linear)
            .ok_or_else(|reason| self.session.unsupported(reason))?;
        let session = &self.session;
        RegisteredMemory::new(&session.queue, block).map_err(session.failed())
    }
}

/// Linear memory or a texture of this backend.
enum CopySide<'a> {
    Linear(&'a CudaMemory),
    Image(&'a CudaImage),
}

impl<'a> CopySide<'a> {
    fn of(memory: &'a dyn ComputeMemory, session: &Session) -> Result<Self> {
        match find(memory, session) {
            Some(image) => Ok(Self::Image(image)),
            None => own(memory, session).map(Self::Linear),
        }
    }
}

// SAFETY: memories keep their allocation and its length; launches compare the kinds and the number of arguments with
// the kernel.
unsafe impl BackendDriver for CudaBackend {
    fn device(&self) -> &DeviceIdentity {
        &self.session.identity
    }

    fn caps(&self) -> &ComputeCaps {
        &self.session.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(CudaKernel::build(&self.session, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        let block = DeviceBlock::new(&self.session.queue, bytes).map_err(self.session.failed())?;
        Ok(Box::new(CudaMemory::new(&self.session, Store::Device(Arc::new(block)), bytes)))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let registered = self.register(block)?;
        Ok(Box::new(CudaMemory::new(&self.session, Store::Host(registered), block.len())))
    }

    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        Ok(Some(Box::new(self.register(block)?)))
    }

    fn import_surface(
        &self,
        _: CheckToken,
        handle: &SharedHandle,
        desc: &SurfaceDesc,
    ) -> Result<Box<dyn ComputeMemory>> {
        let session = &self.session;
        match handle.handle_type() {
            HandleType::OPAQUE => return shared_objects::import(session, handle, desc),
            HandleType::QueueBuffer(_) => return queue_block::import(session, handle, desc),
            _ => {}
        }
        let Ok(gl) = &session.queue.api().gl else {
            return Err(session.unsupported("the driver has no OpenGL interop"));
        };
        let bytes = desc.byte_len()?;
        if !graphics::draws_current_context(&session.queue, gl).map_err(session.failed())? {
            return Err(session.unsupported("the current OpenGL context belongs to another device"));
        }
        match (handle, desc) {
            (SharedHandle::GlBuffer { name }, SurfaceDesc::Buffer(_)) => {
                let resource = Resource::buffer(&session.queue, gl, *name).map_err(session.failed())?;
                Ok(Box::new(CudaMemory::new(session, Store::GlBuffer(resource), bytes)))
            }
            (SharedHandle::GlTexture { name, target }, SurfaceDesc::Image(image)) => {
                let resource = Resource::image(&session.queue, gl, *name, *target).map_err(session.failed())?;
                let mut memory = CudaImage::new(session, Texture::Registered(resource), *image)?;
                memory.acquire()?;
                let checked = memory.check();
                memory.release().and(checked)?;
                Ok(Box::new(memory))
            }
            _ => Err(handle.names_no(desc)),
        }
    }

    fn can_export_to(&self, display: &DeviceIdentity) -> Support {
        self.session.reach(display).map_or_else(Support::No, |_| Support::Yes)
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        match handle {
            HandleType::QueueBuffer(_) => queue_block::allocate(&self.session, bytes),
            _ => shared_objects::allocate(&self.session, bytes, display),
        }
    }

    fn allocate_shared_image(
        &self,
        image: &ImageDesc,
        _: HandleType,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        shared_objects::allocate_image(&self.session, image)
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        Ok(Box::new(shared_objects::CudaSemaphore::import(&self.session, handle)?))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let kernel = own::<CudaKernel>(kernel, &self.session)?;
        self.session.timed(interop_core::Kernel::name(kernel), || launch::launch(&self.session, kernel, target, args))
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let kernel = self.patterns.get(&self.session, &target.view())?;
        let args = [Arg::U32(pattern.and_mask), Arg::U32(pattern.or_mask), Arg::U32(pattern.nonce)];
        self.session.timed("pattern", || launch::launch(&self.session, kernel, target, &args))
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        crate::raw::raw(&self.session, target)
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        let failed = self.session.failed();
        let (from, to) = (CopySide::of(from, &self.session)?, CopySide::of(to, &self.session)?);
        self.session.timed("copy", || match (from, to) {
            (CopySide::Linear(from), CopySide::Linear(to)) => {
                let (from, to) = (from.part(&range, Access::Read)?, to.part(&range, Access::Write)?);
                self.session.queue.copies().between(from.span, to.span).map_err(&failed)
            }
            (CopySide::Image(from), CopySide::Image(to)) => from.copy_image(to, &range),
            (CopySide::Image(from), CopySide::Linear(to)) => {
                from.copy_linear(&range, to.part(&range, Access::Write)?.span, true)
            }
            (CopySide::Linear(from), CopySide::Image(to)) => {
                to.copy_linear(&range, from.part(&range, Access::Read)?.span, false)
            }
        })
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        queue(&self.session, options)
    }

    fn defer_submission(&self) -> Result<()> {
        self.session.queue.defer_submission();
        Ok(())
    }

    fn audit_kernels(&self) -> Option<&AuditKernels> {
        Some(&self.audits)
    }

    fn finish(&self) -> Result<()> {
        self.session.synchronize()
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.session.timeline.switch(&self.session.queue, &self.session.identity, on)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.session.timeline.drain(&self.session.identity, into)
    }
}
