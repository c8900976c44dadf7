//! [`WgpuBackend`].

use crate::compute::copy_in::{copy_in, copy_out};
use crate::compute::image::{Way, WgpuImage, linear};
use crate::compute::kernel::WgslKernel;
use crate::compute::launch;
use crate::compute::memory::WgpuMemory;
use crate::compute::numbers::{Numbers, layout};
use crate::compute::pattern::PatternKernel;
use crate::compute::session::Session;
use crate::context::queue_buffer::QueueBuffer;
use crate::context::vulkan::{Opener, Vulkan};
use crate::{WgpuDevice, WgpuDisplay, WgpuOptions};
use interop_core::compute::{BackendDriver, Checked};
use interop_core::describe::error::call;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::owned::{find, own, own_mut};
use interop_core::{
    Api, Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeSemaphore, DeviceIdentity, Display, HandleType,
    Kernel, KernelSource, Language, MemoryCap, MemoryShape, RawTarget, Result, SharedHandle, Support, SurfaceDesc,
    Target, View,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};
use wgsl_kernel::{FLAT, Limits, flat_color};

/// Bytes of the largest memory that a kernel's 32-bit addresses reach.
const MOST_BYTES: u64 = u32::MAX as u64 & !3;

/// A device that computes. See the crate.
pub struct WgpuBackend {
    session: Arc<Session>,
    pattern: PatternKernel,
    /// Stores one colour all over, as kernels do. Built when it is first needed.
    flat: OnceLock<WgslKernel>,
}

impl WgpuBackend {
    /// Opens a device of its own: the best adapter that `options` allow.
    ///
    /// # Errors
    /// [`Unavailable`](interop_core::Error::Unavailable) where there is none, or the driver refuses;
    /// [`Unsupported`](interop_core::Error::Unsupported) where it has no compute shaders.
    pub fn open(options: &WgpuOptions) -> Result<Self> {
        Self::on(WgpuDevice::open(options)?)
    }

    /// Computes on a device that is there, in its queue.
    ///
    /// # Errors
    /// [`Unsupported`](interop_core::Error::Unsupported) where it has no compute shaders that write storage buffers.
    pub fn on(device: WgpuDevice) -> Result<Self> {
        call("WgpuBackend::on", || {
            let limits = device.device.limits();
            if limits.max_compute_invocations_per_workgroup == 0 || limits.max_storage_buffers_per_shader_stage == 0 {
                return Err(device.unsupported("it has no compute shaders that write storage buffers"));
            }
            let identity = device.identity.clone().with_api(Api::Wgpu);
            let most = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size).min(MOST_BYTES);
            let shared = MemoryCap::new(HandleType::QueueBuffer(device.queue_id()), MemoryShape::Linear, Support::Yes);
            let caps = ComputeCaps::new(vec![Language::Wgsl], most).with_allocation_limit(
                "max_storage_buffer_binding_size and max_buffer_size of the device's limits; ask for more in required_limits",
            );
            let textures = MemoryCap::new(shared.handle, MemoryShape::Image, device.stores.any());
            let opener = Opener::of(&device);
            let absent = || (MemoryCap::opened_by_kernels(Support::No(Vulkan::ABSENT.into())), Vec::new());
            let (opened, semaphores) = opener.as_ref().map_or_else(absent, |opener| opener.caps());
            let imports = [shared.clone(), textures].into_iter().chain(opened).collect();
            let caps = caps.with_exports(vec![shared]).with_imports(imports).with_semaphores(semaphores);
            let caps = caps.with_image_formats(device.stores.pixels()).with_serves_its_queue(true);
            let (numbers, layout) = device.scoped(|| (Numbers::new(&device.device), layout(&device.device)))?;
            let numbers = Mutex::new(numbers);
            // wgpu makes uniforms of them for OpenGL.
            let is_gl = device.device.adapter_info().backend == wgpu::Backend::Gl;
            let immediates = if is_gl { 0 } else { limits.max_immediate_size as usize };
            let (memories, groups) =
                (limits.max_storage_buffers_per_shader_stage, limits.max_compute_workgroups_per_dimension);
            let limits = Limits::new(&device.identity, memories, groups, limits.max_compute_invocations_per_workgroup);
            let texture_layouts = Mutex::default();
            let session =
                Session { device, identity, caps, limits, opener, immediates, numbers, layout, texture_layouts };
            let session = Arc::new(session);
            // Limits alone do not tell: NVIDIA gives wgpu an OpenGL 3.3, whose shaders compute nothing.
            let pattern = PatternKernel::build(&session).map_err(|error| {
                let reason = format!("its compute shaders do not build: {error}");
                session.device.unsupported(reason)
            })?;
            Ok(Self { session, pattern, flat: OnceLock::new() })
        })
    }

    fn flat(&self) -> Result<&WgslKernel> {
        if let Some(built) = self.flat.get() {
            return Ok(built);
        }
        let built = WgslKernel::build(&self.session, &KernelSource::new("flat").wgsl(FLAT))?;
        Ok(self.flat.get_or_init(|| built))
    }

    fn opener(&self) -> Result<&Opener> {
        self.session.opener.as_ref().ok_or_else(|| self.session.device.unsupported(Vulkan::ABSENT))
    }

    /// Its wgpu device.
    pub fn wgpu_device(&self) -> &WgpuDevice {
        &self.session.device
    }

    /// Copies, on the device, what another library's kernels wrote into a wgpu buffer of theirs: pixels or bytes without gaps, rows
    /// in the surface's order, from byte `offset` of `from` on. `target` is a frame's
    /// ([`WriteFrame::target`](interop_core::WriteFrame::target)) or a memory's.
    ///
    /// The queue keeps the order, so nothing is waited for. Whoever wrote `from` has submitted that; what is submitted after
    /// this call may write `from` again. `from` is of this backend's device, with [`wgpu::BufferUsages::COPY_SRC`].
    ///
    /// # Errors
    /// [`Foreign`](interop_core::Error::Foreign) for another backend's target;
    /// [`InvalidInput`](interop_core::Error::InvalidInput) where `from` is too short;
    /// [`Unsupported`](interop_core::Error::Unsupported) where `offset`, rows or their places are not whole words of four bytes;
    /// [`Driver`](interop_core::Error::Driver) where wgpu refuses `from`.
    pub fn copy_from_buffer(&self, target: Target<'_>, from: &wgpu::Buffer, offset: u64) -> Result<()> {
        copy_in(&self.session, target, from, offset)
    }

    /// Copies, on the device, what a view has of this backend's memory (what an [`Intake`](interop_core::Intake) took, say) into a
    /// wgpu buffer of another library's, from byte `offset` of `to` on, as [`WgpuBackend::copy_from_buffer`] the other way:
    /// `to` is of this backend's device, with [`wgpu::BufferUsages::COPY_DST`]. What is submitted later reads it.
    ///
    /// # Errors
    /// Those of [`WgpuBackend::copy_from_buffer`]; [`InvalidInput`](interop_core::Error::InvalidInput) also for a view that reaches
    /// outside the memory.
    pub fn copy_to_buffer(&self, from: &dyn ComputeMemory, view: View, to: &wgpu::Buffer, offset: u64) -> Result<()> {
        copy_out(&self.session, from, view, to, offset)
    }
}

impl WgpuBackend {
    /// The target's memory as a buffer of wgpu's (`STORAGE | VERTEX | COPY_SRC | COPY_DST`), and where in it: pipelines of your
    /// own write a frame ([`WriteFrame::target`](interop_core::WriteFrame::target)) in place. What was launched before is
    /// submitted.
    ///
    /// Write only the bytes of the view, submit that to this device's queue before the frame is finished, and ask in each frame.
    /// What is written later shows in other frames.
    ///
    /// # Errors
    /// [`Foreign`](interop_core::Error::Foreign) for another backend's target, [`Driver`](interop_core::Error::Driver) where the
    /// device is lost.
    pub fn buffer_of(&self, target: Target<'_>) -> Result<(wgpu::Buffer, View)> {
        call("WgpuBackend::buffer_of", || {
            let (memory, view) = target.into_parts();
            let (memory, view) = linear(memory, view, &self.session)?;
            self.session.device.submit_recorded()?;
            Ok((memory.buffer().clone(), view))
        })
    }
}

// SAFETY: memories keep their buffer, whose size wgpu checks; launches compare kinds and number of arguments with the kernel.
unsafe impl BackendDriver for WgpuBackend {
    fn device(&self) -> &DeviceIdentity {
        &self.session.identity
    }

    fn caps(&self) -> &ComputeCaps {
        &self.session.caps
    }

    fn open_in(&self, display: &dyn Display) -> Result<Option<Arc<dyn ComputeBackend>>> {
        let Some(display) = display.downcast_ref::<WgpuDisplay>() else { return Ok(None) };
        let theirs = display.shared_device();
        if theirs.is(&self.session.device) || !self.session.identity.same_device(&theirs.identity).is_yes() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self::on(theirs)?)))
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(WgslKernel::build(&self.session, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        BackendDriver::allocate_send(self, bytes).map(|memory| memory as Box<dyn ComputeMemory>)
    }

    fn allocate_send(&self, bytes: usize) -> Result<Box<dyn ComputeMemory + Send>> {
        let buffer = QueueBuffer::new(&self.session.device, bytes)?;
        Ok(Box::new(WgpuMemory::over(&self.session, buffer, bytes)))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        _handle: HandleType,
        _display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        let buffer = QueueBuffer::new(&self.session.device, bytes)?;
        let memory = WgpuMemory::over(&self.session, buffer.clone(), bytes);
        Ok((Box::new(memory), buffer.into_handle()))
    }

    fn import_surface(&self, _: Checked, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
        let device = &self.session.device;
        if let SurfaceDesc::Image(image) = desc {
            return Ok(Box::new(WgpuImage::open(&self.session, handle, *image)?));
        }
        let bytes = desc.byte_len()?;
        let buffer = match handle {
            SharedHandle::Memory(_) => {
                QueueBuffer::over(device, &self.opener()?.buffer(device, handle.duplicate_memory()?, bytes)?)
            }
            _ => QueueBuffer::open(handle, device, bytes)?,
        };
        Ok(Box::new(WgpuMemory::over(&self.session, buffer, bytes)))
    }

    fn import_semaphore(&self, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        self.opener()?.semaphore(&self.session.device, handle.duplicate_semaphore()?)
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let kernel = own::<WgslKernel>(kernel, &self.session)?;
        launch::launch(&self.session, kernel, target, args)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        let session = &self.session;
        if let Some(image) = find::<WgpuImage>(memory, session) {
            if let Some(color) = flat_color(image.format(), pattern) {
                let target = Target::new(memory, view)?;
                return launch::launch(session, self.flat()?, target, &color.map(Arg::F32));
            }
            return image.through_linear(&view, |memory, view| self.pattern.write(session, memory, view, pattern));
        }
        self.pattern.write(session, own::<WgpuMemory>(memory, session)?, &view, pattern)
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        let (memory, view) = target.into_parts();
        let (memory, view) = linear(memory, view, &self.session)?;
        let device = &self.session.device;
        device.submit_recorded()?;
        let memory = device.raw_vulkan(memory.buffer());
        let absent = || device.unsupported("Vulkan does not drive it; use WgpuBackend::buffer_of");
        // SAFETY: the target lies inside the memory, which keeps its buffer for as long as it is borrowed.
        memory.map(|memory| unsafe { RawTarget::new(memory, view) }).ok_or_else(absent)
    }

    fn copy(
        &self,
        _: Checked,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        let session = &self.session;
        match (find::<WgpuImage>(from, session), find::<WgpuImage>(to, session)) {
            (Some(from), Some(to)) => from.copy_image(to, &range),
            (Some(from), None) => from.copy_rows(own::<WgpuMemory>(to, session)?, &range, Way::Load),
            (None, Some(to)) => to.copy_rows(own::<WgpuMemory>(from, session)?, &range, Way::Store),
            (None, None) => {
                let from = own::<WgpuMemory>(from, session)?;
                own_mut::<WgpuMemory>(to, session)?.copy_from(from, range)
            }
        }
    }

    fn finish(&self) -> Result<()> {
        self.session.finish()
    }
}
