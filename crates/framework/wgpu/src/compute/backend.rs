//! [`WgpuBackend`].

use crate::compute::bindings::Numbers;
use crate::compute::copy_in::{copy_in, copy_out};
use crate::compute::device::WgpuShaders;
use crate::context::vulkan::{Opener, Vulkan};
use crate::{WgpuDevice, WgpuDisplay, WgpuOptions};
use interop_core::describe::error::call;
use interop_core::{
    Api, ComputeCaps, ComputeMemory, HandleType, Language, MemoryCap, MemoryShape, RawTarget, Result, Support, Target,
    View,
};
use wgsl_kernel::Limits;
use wgsl_kernel::shader::{MemorySide, Session, ShaderBackend, ShaderDevice as _};

/// Bytes of the largest memory that 32-bit addresses of kernels can reach.
const MOST_BYTES: u64 = u32::MAX as u64 & !3;

/// A wgpu device as a compute backend. See the module documentation.
pub struct WgpuBackend(ShaderBackend<WgpuShaders>);

wgsl_kernel::shader_backend!(WgpuBackend, |display: &WgpuDisplay| Self::on(display.shared_device()), Self::names);

impl WgpuBackend {
    /// Opens a device of its own, on the best adapter that `options` allow.
    ///
    /// # Errors
    /// [`Unavailable`](interop_core::Error::Unavailable) where no adapter is allowed, or the driver refuses;
    /// [`Unsupported`](interop_core::Error::Unsupported) where it has no compute shaders.
    pub fn open(options: &WgpuOptions) -> Result<Self> {
        Self::on(WgpuDevice::open(options)?)
    }

    /// Returns a backend that computes on an existing device, in its queue.
    ///
    /// # Errors
    /// [`Unsupported`](interop_core::Error::Unsupported) where the device has no compute shaders that write storage
    /// buffers.
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
                "max_storage_buffer_binding_size and max_buffer_size of the device; request more in required_limits",
            );
            let textures = MemoryCap::new(shared.handle, MemoryShape::Image, device.stores.any());
            let opener = Opener::of(&device);
            let absent = || (MemoryCap::opened_by_kernels(Support::No(Vulkan::ABSENT.into())), Vec::new());
            let (opened, semaphores) = opener.as_ref().map_or_else(absent, |opener| opener.caps());
            let imports = [shared.clone(), textures].into_iter().chain(opened).collect();
            let caps = caps.with_exports(vec![shared]).with_imports(imports).with_semaphores(semaphores);
            let caps = caps.with_image_formats(device.stores.pixels()).with_serves_its_queue(true);
            let numbers = device.scoped(|| Numbers::new(&device.device))?;
            // wgpu turns immediates into uniforms for OpenGL.
            let is_gl = device.device.adapter_info().backend == wgpu::Backend::Gl;
            let immediates = if is_gl { 0 } else { limits.max_immediate_size as usize };
            let (memories, groups) =
                (limits.max_storage_buffers_per_shader_stage, limits.max_compute_workgroups_per_dimension);
            let limits = Limits::new(&device.identity, memories, groups, limits.max_compute_invocations_per_workgroup);
            let session = Session { identity, caps, limits };
            // Limits alone are not sufficient: NVIDIA's driver gives wgpu an OpenGL 3.3, whose compute shaders do not
            // work.
            ShaderBackend::new(WgpuShaders { device, session, opener, immediates, numbers }).map(Self)
        })
    }

    /// Returns its wgpu device.
    pub fn wgpu_device(&self) -> &WgpuDevice {
        &self.0.device().device
    }

    /// Copies, on the device, a wgpu buffer written by another library's kernels: pixels or bytes without gaps, with
    /// the rows in the surface's order, starting at byte `offset` of `from`. `target` is a frame's
    /// ([`WriteFrame::target`](interop_core::WriteFrame::target)) or a memory's.
    ///
    /// The queue keeps the order, so this does not wait. The writes to `from` must be submitted before this call; work
    /// submitted later may write `from` again. `from` belongs to this backend's device and has
    /// [`wgpu::BufferUsages::COPY_SRC`].
    ///
    /// # Errors
    /// [`Foreign`](interop_core::Error::Foreign) for another backend's target;
    /// [`InvalidInput`](interop_core::Error::InvalidInput) where `from` is too short;
    /// [`Unsupported`](interop_core::Error::Unsupported) where `offset`, the rows or their positions are not whole
    /// words of four bytes;
    /// [`Driver`](interop_core::Error::Driver) where wgpu refuses `from`.
    pub fn copy_from_buffer(&self, target: Target<'_>, from: &wgpu::Buffer, offset: u64) -> Result<()> {
        copy_in(self.0.device(), target, from, offset)
    }

    /// Copies, on the device, a view of this backend's memory (for example memory that an
    /// [`Intake`](interop_core::Intake) read) into a wgpu buffer of another library, starting at byte `offset` of `to`.
    /// It is the reverse of [`WgpuBackend::copy_from_buffer`]: `to` belongs to this backend's device and has
    /// [`wgpu::BufferUsages::COPY_DST`]. Work submitted later can read it.
    ///
    /// # Errors
    /// Those of [`WgpuBackend::copy_from_buffer`]; [`InvalidInput`](interop_core::Error::InvalidInput) also for a view
    /// that reaches outside the memory.
    pub fn copy_to_buffer(&self, from: &dyn ComputeMemory, view: View, to: &wgpu::Buffer, offset: u64) -> Result<()> {
        copy_out(self.0.device(), from, view, to, offset)
    }

    /// Returns the target's memory as a wgpu buffer (`STORAGE | VERTEX | COPY_SRC | COPY_DST`), and the view of the
    /// target in it. With it, your own pipelines write a frame
    /// ([`WriteFrame::target`](interop_core::WriteFrame::target)) in place. Earlier launches are submitted first.
    ///
    /// Write only the bytes of the view, submit those writes to this device's queue before the frame is finished, and
    /// call this again for each frame. Later writes would appear in other frames.
    ///
    /// # Errors
    /// [`Foreign`](interop_core::Error::Foreign) for another backend's target, [`Driver`](interop_core::Error::Driver) where the
    /// device is lost.
    pub fn buffer_of(&self, target: Target<'_>) -> Result<(wgpu::Buffer, View)> {
        call("WgpuBackend::buffer_of", || {
            let (memory, view) = target.into_parts();
            let (memory, view) = self.submitted(MemorySide::of(memory, self.0.device().session())?, view)?;
            Ok((memory.clone(), view))
        })
    }

    /// Returns the memory of a target after submitting earlier launches.
    fn submitted<'m>(&self, memory: MemorySide<'m, WgpuShaders>, view: View) -> Result<(&'m wgpu::Buffer, View)> {
        let found = self.0.device().linear(memory, view)?;
        self.wgpu_device().submit_recorded()?;
        Ok(found)
    }

    /// Implements [`interop_core::ComputeBackend::raw`].
    fn names<'a>(&self, memory: MemorySide<'a, WgpuShaders>, view: View) -> Result<RawTarget<'a>> {
        let (memory, view) = self.submitted(memory, view)?;
        let device = self.wgpu_device();
        let memory = device.raw_vulkan(memory);
        let absent = || device.unsupported("its API is not Vulkan; use WgpuBackend::buffer_of");
        // SAFETY: the target lies inside the memory, which keeps its buffer for as long as it is borrowed.
        memory.map(|memory| unsafe { RawTarget::new(memory, view) }).ok_or_else(absent)
    }
}
