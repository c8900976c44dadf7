//! The type [`OpenClBackend`].

use crate::backend_state::BackendState;
use crate::device::{OpenClDevice, devices};
use crate::kernel::OpenClKernel;
use crate::launch::launch;
use crate::memory::{OpenClMemory, PreparedHost};
use crate::pattern::PatternKernel;
use crate::queue::queue;
use crate::sharing::caps::gl_listed;
use crate::sharing::gl::{GlAccess, SharedGlObject};
use crate::sharing::image::OpenClImage;
use crate::sharing::semaphore::OpenClSemaphore;
use interop_core::compute::{AuditKernels, BackendDriver, CheckToken};
use interop_core::describe::error::call;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::maker_object::own;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeQueue, ComputeSemaphore, DeviceIdentity, DeviceSpan,
    Display, Error, GlContext, HandleType, HostBlock, Kernel, KernelSource, QueueOptions, RawTarget, Result,
    SharedHandle, Support, SurfaceDesc, Target,
};
use pixelferry_opencl::GlObject;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// One OpenCL device with its own context (`cl_context`) and in-order queue (`cl_command_queue`).
///
/// Threads: any thread may use the backend, its kernels and its memories, which keep the context alive, so they may be
/// dropped after the backend.
pub struct OpenClBackend {
    pub(crate) shared: Arc<BackendState>,
    pattern: PatternKernel,
    audits: AuditKernels,
}

impl OpenClBackend {
    /// Opens a device (`clCreateContext`, `clCreateCommandQueue`).
    ///
    /// # Errors
    /// [`interop_core::Error::Driver`] for errors of the driver.
    pub fn open(device: &OpenClDevice) -> Result<Self> {
        Ok(Self {
            shared: Arc::new(BackendState::open(device, None)?),
            pattern: PatternKernel::default(),
            audits: AuditKernels::default(),
        })
    }

    /// Opens a device so that it shares with an OpenGL context ([`interop_core::Display::hold_gl`]), which must be
    /// current on this thread. This enables the paths with [`interop_core::SharedHandle::GlTexture`] and
    /// [`interop_core::SharedHandle::GlBuffer`]. [`OpenClBackend::share_gl`] opens objects of every kind. The backend
    /// and all its objects hold the context, as OpenCL requires (`cl_khr_gl_sharing`, Lifetime of Shared Objects).
    /// [`ComputeBackend::open_in`] does the same with a display.
    ///
    /// No driver of ours has the extension. It has run with the layer `clgl-layer`, which adds it to PoCL and rusticl.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the device's extension list has no `cl_khr_gl_sharing` (its driver is
    /// then not called), and where the driver does not list the device for this context.
    /// [`interop_core::Error::WrongContext`] where the context is not current. [`interop_core::Error::Driver`].
    pub fn open_sharing_gl(device: &OpenClDevice, gl: Arc<dyn GlContext>) -> Result<Self> {
        call("OpenClBackend::open_sharing_gl", || {
            gl_listed(device).ok_or_else(|reason| Error::unsupported(device.identity(), reason))?;
            Ok(Self {
                shared: Arc::new(BackendState::open(device, Some(gl))?),
                pattern: PatternKernel::default(),
                audits: AuditKernels::default(),
            })
        })
    }

    /// Opens a GL object of any kind (`clCreateFromGLBuffer`, `clCreateFromGLTexture`, `clCreateFromGLRenderbuffer`);
    /// see [`SharedGlObject`].
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the backend does not share with OpenGL, or the kind needs an
    /// extension that the device lacks. [`interop_core::Error::WrongContext`]. [`interop_core::Error::Driver`] for what
    /// is no object of the context.
    pub fn share_gl(&self, object: GlObject, access: GlAccess) -> Result<SharedGlObject> {
        SharedGlObject::open(&self.shared, object, access)
    }

    /// Opens the first device that works: GPUs before CPUs before others (`CL_DEVICE_TYPE`), otherwise in the drivers'
    /// order.
    ///
    /// # Errors
    /// Those of [`devices`]; the best device's own error where none can be opened.
    pub fn open_best() -> Result<Self> {
        Self::open_first(|_| true)
    }

    /// Opens the first device that works, in the order of [`OpenClBackend::open_best`]. Among devices of one type, the
    /// device of an existing display comes first (`CL_DEVICE_UUID_KHR`, `CL_DEVICE_PCI_BUS_INFO_KHR`).
    ///
    /// # Errors
    /// The errors of [`OpenClBackend::open_best`].
    pub fn open_best_for(display: &DeviceIdentity) -> Result<Self> {
        Self::open_first(|device| device.same_device(display).is_yes())
    }

    fn open_first(is_preferred: impl Fn(&DeviceIdentity) -> bool) -> Result<Self> {
        let mut candidates = devices()?;
        candidates.sort_by_key(|d| (d.description.sort, !is_preferred(d.identity())));
        let mut first_error = None;
        for device in &candidates {
            match Self::open(device) {
                Ok(backend) => return Ok(backend),
                Err(error) => {
                    tracing::debug!("{} cannot be opened: {error}", device.identity());
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| pixelferry_opencl::no_device(&[])))
    }

    /// Returns the device (`cl_device_id`) in the form in which [`devices`] lists it.
    pub fn opened_device(&self) -> &OpenClDevice {
        &self.shared.device
    }
}

// SAFETY: memories keep their `cl_mem`, whose size the driver reported; launches compare the kinds and the number of
// arguments with the kernel.
unsafe impl BackendDriver for OpenClBackend {
    fn device(&self) -> &DeviceIdentity {
        self.shared.identity()
    }

    fn caps(&self) -> &ComputeCaps {
        &self.shared.caps
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let device = &self.shared.device;
        if !gl_listed(device).is_yes() {
            return Ok(None);
        }
        let gl = match display.hold_gl() {
            Ok(gl) => gl,
            Err(error) => {
                tracing::debug!(%error, "{} cannot share with the context", device.identity());
                return Ok(None);
            }
        };
        if self.shared.gl.as_ref().is_some_and(|share| share.name() == gl.name()) {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self::open_sharing_gl(device, gl)?)))
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(OpenClKernel::build(&self.shared, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(OpenClMemory::allocate(&self.shared, bytes)?))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(OpenClMemory::import(&self.shared, block)?))
    }

    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        Ok(PreparedHost::new(&self.shared, block).map(|prepared| Box::new(prepared) as Box<dyn Any + Send + Sync>))
    }

    fn import_surface(
        &self,
        _: CheckToken,
        handle: &SharedHandle,
        desc: &SurfaceDesc,
    ) -> Result<Box<dyn ComputeMemory>> {
        match handle {
            SharedHandle::QueueBuffer { .. } => crate::sharing::own::import(&self.shared, handle, desc),
            SharedHandle::Memory { .. } => crate::sharing::external::import(&self.shared, handle, desc),
            _ => crate::sharing::gl::import(&self.shared, handle, desc),
        }
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        _: HandleType,
        _: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        crate::sharing::own::allocate(&self.shared, bytes)
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        Ok(Box::new(OpenClSemaphore::import(&self.shared, handle)?))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        self.shared.timed(Some(kernel.name()), || launch(&self.shared, kernel, target, args))
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.shared.timed(Some("pattern"), || self.pattern.write(&self.shared, target, pattern))
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        self.names_of(target)
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        let shared = &self.shared;
        let images = (from.is::<OpenClImage>(), to.is::<OpenClImage>());
        shared.timed(None, || match images {
            (false, false) => OpenClMemory::of(from, shared)?.copy_to(OpenClMemory::of(to, shared)?, range),
            (true, true) => own::<OpenClImage>(from, shared)?.copy_image(own::<OpenClImage>(to, shared)?, &range),
            (true, false) => {
                let to = OpenClMemory::of(to, shared)?;
                let _turn = to.turn()?;
                own::<OpenClImage>(from, shared)?.copy_linear(&range, to.buffer(), true)
            }
            (false, true) => {
                let from = OpenClMemory::of(from, shared)?;
                let _turn = from.turn()?;
                own::<OpenClImage>(to, shared)?.copy_linear(&range, from.buffer(), false)
            }
        })
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        queue(&self.shared, options)
    }

    fn audit_kernels(&self) -> Option<&AuditKernels> {
        Some(&self.audits)
    }

    fn finish(&self) -> Result<()> {
        self.shared.finish()
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.shared.switch_timeline(on)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.shared.drain_timeline(into)
    }
}
