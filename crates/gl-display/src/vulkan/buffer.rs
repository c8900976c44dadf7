//! Linear memory that others can open.

use super::VulkanDevice;
use super::memory::{OP, OPAQUE, Object, VulkanMemory};
use ash::vk;
use interop_core::Result;
use std::rc::Rc;

/// What GL and compute devices do with it.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw(),
);

impl VulkanMemory {
    /// A buffer of `bytes` (more than 0) with an allocation for it alone. The content is undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports no buffers.
    pub(crate) fn buffer(device: &Rc<VulkanDevice>, bytes: usize) -> Result<Self> {
        let question = vk::PhysicalDeviceExternalBufferInfo::default().usage(USAGE).handle_type(OPAQUE);
        let mut answer = vk::ExternalBufferProperties::default();
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        unsafe {
            device.instance().get_physical_device_external_buffer_properties(device.physical, &question, &mut answer);
        }
        let features = answer.external_memory_properties.external_memory_features;
        if !features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE) {
            return Err(device.unsupported(OP, "the driver exports no buffers by descriptor".into()));
        }
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(OPAQUE);
        let info = vk::BufferCreateInfo::default()
            .size(bytes as u64)
            .usage(USAGE)
            .sharing_mode(vk::SharingMode::EXCLUSIVE)
            .push_next(&mut external);
        // SAFETY: the driver was asked whether it makes such buffers; the structures live through the call.
        let buffer = unsafe { device.device.create_buffer(&info, None) }.map_err(device.failed("vkCreateBuffer"))?;
        // SAFETY: the buffer is new, of this device, and has no memory.
        unsafe { Self::new(device, Object::Buffer(buffer)) }
    }
}
