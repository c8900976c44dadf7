//! Buffers in memory that the host or another API writes.

use super::{Api, ExportedMemory, Vulkan};
use crate::context::device::WgpuDevice;
use crate::context::device_state::DeviceState;
use crate::context::format::{WORD, whole_words};
use ash::vk;
use interop_core::{HostBlock, MemoryHandle, Result};
use pixelferry_vulkan::sharing::Allocation;
use std::sync::Arc;

impl Vulkan {
    /// Creates a buffer that stays mapped, coherent and initially zero, and returns its address.
    pub(super) fn mapped(&self, shared: &DeviceState, bytes: usize) -> Result<(wgpu::Buffer, HostBlock)> {
        let size = whole_words(bytes as u64);
        let (made, address) = self.sharing.mapped_buffer(size, USAGE)?;
        let made = Arc::new(made);
        let buffer = wrap(&shared.base, &made, None, size)?;
        // The memory is dropped before its device.
        let owner = Arc::new((made, shared.device.clone()));
        // SAFETY: the allocation, which stays mapped, lives as long as `owner`; wgpu never maps it.
        let block = unsafe { HostBlock::from_raw(address, bytes, owner) };
        Ok((buffer, block))
    }

    /// Imports host pages as a buffer.
    pub(super) fn imported_host(&self, shared: &DeviceState, block: &HostBlock, bytes: usize) -> Result<wgpu::Buffer> {
        let reader = Arc::new(());
        // SAFETY: `pending_frees` keeps the pages until `reader` goes, which goes after the allocation.
        let made = unsafe { self.sharing.imported_host_buffer(block, bytes, USAGE) }?;
        self.pending_frees.add(block.clone(), &reader);
        wrap(&shared.base, &Arc::new(made), Some(reader), whole_words(bytes as u64))
    }

    /// Creates exportable device memory as a buffer.
    pub(super) fn exported_buffer(&self, shared: &DeviceState, bytes: usize) -> Result<(wgpu::Buffer, ExportedMemory)> {
        let size = whole_words(bytes as u64);
        let made = Arc::new(self.sharing.exported_buffer(size, USAGE)?);
        Ok((wrap(&shared.base, &made, None, size)?, ExportedMemory(made)))
    }

    /// Imports memory of another device or API as a buffer.
    pub(super) fn imported(&self, shared: &DeviceState, memory: MemoryHandle, bytes: usize) -> Result<wgpu::Buffer> {
        // The buffer covers all of the memory if it is dedicated to one buffer.
        let whole = memory.is_dedicated().then_some(memory.bytes() / WORD * WORD);
        let size = whole_words(bytes as u64);
        let made = self.sharing.imported_buffer(memory, size, USAGE)?;
        wrap(&shared.base, &Arc::new(made), None, whole.unwrap_or(size))
    }
}

/// Usages of wgpu's buffers over shared memory. On Vulkan, vertex buffers may also hold indices.
pub(super) const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// Wraps the first bytes of an allocation as a wgpu buffer, which keeps it. `reader` is dropped after it.
pub(super) fn wrap(
    device: &WgpuDevice,
    made: &Arc<Allocation>,
    reader: Option<Arc<()>>,
    size: u64,
) -> Result<wgpu::Buffer> {
    use wgpu::BufferUsages as Usage;
    let descriptor = wgpu::BufferDescriptor {
        label: Some("pixelferry shared memory"),
        size,
        usage: Usage::STORAGE | Usage::VERTEX | Usage::COPY_SRC | Usage::COPY_DST | Usage::INDEX,
        mapped_at_creation: false,
    };
    let raw = made.buffer()?;
    let kept = Arc::clone(made);
    let let_go = Box::new(move || {
        drop(kept);
        drop(reader);
    });
    device.scoped(|| {
        // SAFETY: the buffer was made of this device with these usages, at least so large and with memory bound; it
        // lives until wgpu lets go of `kept`, and wgpu does not map it.
        unsafe {
            let hal = wgpu::hal::vulkan::Buffer::from_raw_externally_owned(raw, let_go);
            device.device.create_buffer_from_hal::<Api>(hal, &descriptor)
        }
    })
}
