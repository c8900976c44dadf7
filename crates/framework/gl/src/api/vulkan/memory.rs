//! Memory that other APIs can open, dedicated to one image or buffer.

use super::VulkanDevice;
use ash::vk;
use interop_core::{ImageDesc, MemoryHandle, Result};
use pixelferry_vulkan::sharing::Allocation;
use std::sync::Arc;

/// Uses of buffers by GL and by compute devices.
const BUFFER: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw(),
);

/// An image or a buffer with its allocation. Handles that others opened keep the memory alive after this is dropped.
pub(crate) struct VulkanMemory {
    // Dropped before its device.
    allocation: Allocation,
    device: Arc<VulkanDevice>,
}

impl VulkanMemory {
    /// Creates a buffer of `bytes` (more than 0) with a dedicated allocation. The content is undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export buffers.
    pub(crate) fn buffer(device: &Arc<VulkanDevice>, bytes: usize) -> Result<Self> {
        let allocation = device.sharing.exported_buffer(bytes as u64, BUFFER)?;
        Ok(Self { allocation, device: Arc::clone(device) })
    }

    /// Creates an image of one level, in the GPU's preferred layout, with a dedicated allocation. The content is
    /// undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export such an image.
    pub(crate) fn image(device: &Arc<VulkanDevice>, desc: &ImageDesc) -> Result<Self> {
        let (_, allocation) = device.sharing.exported_image(desc, vk::ImageUsageFlags::SAMPLED)?;
        Ok(Self { allocation, device: Arc::clone(device) })
    }

    /// Returns a new handle of the memory.
    pub(crate) fn export(&self) -> Result<MemoryHandle> {
        self.allocation.export(&self.device.sharing)
    }
}
