//! Buffers: linear memory.

use crate::os::MEMORY_HANDLE;
use crate::{Allocation, Object, Sharing};
use ash::vk;
use interop_core::Result;

const OP: &str = "create_staging";

impl Sharing {
    /// A buffer of `bytes` (more than 0) without memory; `external` where its memory will be another's.
    ///
    /// # Errors
    /// What the driver says.
    pub fn buffer(
        &self,
        bytes: u64,
        usage: vk::BufferUsageFlags,
        external: Option<vk::ExternalMemoryHandleTypeFlags>,
    ) -> Result<Allocation> {
        let mut kind = vk::ExternalMemoryBufferCreateInfo::default().handle_types(external.unwrap_or_default());
        let mut info =
            vk::BufferCreateInfo::default().size(bytes).usage(usage).sharing_mode(vk::SharingMode::EXCLUSIVE);
        if external.is_some() {
            info = info.push_next(&mut kind);
        }
        // SAFETY: the structures live through the call.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.map_err(self.failed("vkCreateBuffer"))?;
        // SAFETY: the buffer is new, of this device, and has no memory.
        Ok(unsafe { Allocation::without_memory(self, Object::Buffer(buffer)) })
    }

    /// A buffer of `bytes` (more than 0) of the GPU's own memory that kernels reach by its address
    /// ([`crate::CuDevice::address`]). The content is undefined.
    ///
    /// # Errors
    /// What the driver says.
    ///
    /// # Safety
    /// The device was made with the feature `bufferDeviceAddress`.
    pub unsafe fn addressed_buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> Result<Allocation> {
        let mut made = self.buffer(bytes, usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS, None)?;
        let needs = made.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = self
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .ok_or_else(|| self.unsupported(OP, "no memory of the GPU's own holds it"))?;
        let mut addressed = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut addressed);
        // SAFETY: size and type are those that the buffer asked for, which has no memory yet; the feature is on.
        unsafe { made.allocate(self, &info) }?;
        Ok(made)
    }

    /// A buffer of `bytes` (more than 0) with an allocation for it alone that others can open. The content is undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports no buffers.
    pub fn exported_buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> Result<Allocation> {
        self.memory_functions(OP)?;
        let question = vk::PhysicalDeviceExternalBufferInfo::default().usage(usage).handle_type(MEMORY_HANDLE);
        let mut answer = vk::ExternalBufferProperties::default();
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        unsafe {
            self.instance.get_physical_device_external_buffer_properties(self.physical, &question, &mut answer);
        }
        let features = answer.external_memory_properties.external_memory_features;
        if !features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE) {
            return Err(self.unsupported(OP, "the driver exports no buffers by handle"));
        }
        let mut made = self.buffer(bytes, usage, Some(MEMORY_HANDLE))?;
        made.allocate_exported(self)?;
        Ok(made)
    }
}
