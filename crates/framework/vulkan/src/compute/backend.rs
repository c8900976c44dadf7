//! [`VulkanBackend`].

use crate::compute::device::VulkanShaders;
use crate::compute::spirv::SPIR_V;
use crate::context::device_state::DeviceState;
use crate::launch::layouts::Layouts;
use crate::{VulkanDisplay, VulkanOptions};
use ash::vk::Handle as _;
use interop_core::describe::error::call;
use interop_core::{
    ComputeCaps, HandleType, Language, MemoryCap, MemoryShape, PixelFormat, RawMemory, RawTarget, Result, Support, View,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wgsl_kernel::Limits;
use wgsl_kernel::shader::{MemorySide, Session, ShaderBackend};

/// Bytes of the largest memory that 32-bit addresses of kernels can reach.
const MOST_BYTES: u64 = u32::MAX as u64 & !3;

/// The device and queue of a display as a compute backend. See [`crate::compute`].
pub struct VulkanBackend(ShaderBackend<VulkanShaders>);

wgsl_kernel::shader_backend!(VulkanBackend, |display: &VulkanDisplay| Self::inside(&display.shared), Self::names);

impl VulkanBackend {
    /// Returns a backend that computes on the display's device, in its queue.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where queues of its family do not compute; [`interop_core::Error::Driver`]
    /// for errors of the driver.
    pub fn on(display: &VulkanDisplay) -> Result<Self> {
        call("VulkanBackend::on", || Self::inside(&display.shared))
    }

    /// Opens a device of its own; the backend works on this thread. Frames reach other displays on the GPU in memory
    /// that those displays export. [`open_in`](interop_core::ComputeBackend::open_in) opens this device in the queue of
    /// a Vulkan display.
    ///
    /// # Errors
    /// The errors of [`VulkanDisplay::headless`] and of [`VulkanBackend::on`].
    pub fn open(options: &VulkanOptions) -> Result<Self> {
        call("VulkanBackend::open", || Self::inside(&VulkanDisplay::headless(options)?.shared))
    }

    /// Implements [`interop_core::ComputeBackend::raw`].
    fn names<'a>(&self, memory: MemorySide<'a, VulkanShaders>, view: View) -> Result<RawTarget<'a>> {
        let shared = self.0.device().shared();
        let MemorySide::Linear(memory) = memory else {
            let reason = "an image has no raw pointer here; choose another path than in-queue-texture for the link";
            return Err(shared.unsupported(reason));
        };
        let storage = memory.buffer();
        storage.named.store(true, Ordering::Relaxed);
        let memory = RawMemory::Vulkan {
            buffer: storage.buffer.raw().as_raw(),
            device: shared.sharing.device().handle().as_raw(),
            queue: shared.handles.queue.as_raw(),
        };
        // SAFETY: the target lies inside the memory, which keeps its buffer for as long as it is borrowed.
        Ok(unsafe { RawTarget::new(memory, view) })
    }

    fn inside(shared: &Arc<DeviceState>) -> Result<Self> {
        let queue = HandleType::QueueBuffer(shared.queue_id());
        shared.caps.can_import(queue, MemoryShape::Linear).ok_or_else(|reason| shared.unsupported(reason))?;
        let limits = shared.sharing.limits();
        let most = u64::from(limits.max_storage_buffer_range & !3).min(shared.caps.max_buffer_bytes).min(MOST_BYTES);
        let lent = |shape| MemoryCap::new(queue, shape, Support::Yes);
        let images = lent(MemoryShape::Image).without(&shared.stores.refused());
        let (opened, semaphores) = shared.sharing.opened_by_kernels();
        let caps = ComputeCaps::new(vec![SPIR_V, Language::Wgsl], most)
            .with_allocation_limit("maxStorageBufferRange, or the limit of one allocation of the device")
            .with_exports(vec![lent(MemoryShape::Linear)])
            .with_imports([lent(MemoryShape::Linear), images].into_iter().chain(opened).collect())
            .with_semaphores(semaphores)
            .with_serves_its_queue(true)
            .with_image_formats(PixelFormat::ALL);
        let [across, down, _] = limits.max_compute_work_group_count;
        let [wide, high, _] = limits.max_compute_work_group_size;
        let identity = shared.identity.clone();
        let items = limits.max_compute_work_group_invocations.min(wide).min(high);
        let memories = limits.max_per_stage_descriptor_storage_buffers;
        let limits = Limits::new(&identity, memories, across.min(down), items);
        let layouts = Layouts::new(shared);
        ShaderBackend::new(VulkanShaders { session: Session { identity, caps, limits }, layouts }).map(Self)
    }
}
