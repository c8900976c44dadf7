//! A buffer or image with memory of its own.

use super::{OPAQUE_MEMORY, Vulkan};
use crate::shared::Shared;
use ash::vk;
use interop_core::{Result, SharedHandle};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

/// What the memory is for.
#[derive(Clone, Copy)]
pub(super) enum Object {
    Buffer(vk::Buffer),
    Image(vk::Image),
}

/// Destroyed when dropped, while its device exists: wgpu drops it with what it made of it, before the device.
pub(super) struct Allocation {
    device: ash::Device,
    object: Object,
    memory: vk::DeviceMemory,
    bytes: u64,
    /// Tells the display that host pages are no longer read.
    _reader: Option<Arc<()>>,
}

impl Allocation {
    /// From here on the object is destroyed as a whole; freeing memory that is null does nothing.
    pub(super) fn without_memory(vulkan: &Vulkan, object: Object, reader: Option<Arc<()>>) -> Self {
        let device = vulkan.device.clone();
        Self { device, object, memory: vk::DeviceMemory::null(), bytes: 0, _reader: reader }
    }

    pub(super) fn needs(&self) -> vk::MemoryRequirements {
        // SAFETY: the object is of this device.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => self.device.get_buffer_memory_requirements(buffer),
                Object::Image(image) => self.device.get_image_memory_requirements(image),
            }
        }
    }

    /// For an allocation for the object alone.
    pub(super) fn dedicated(&self) -> vk::MemoryDedicatedAllocateInfo<'static> {
        let info = vk::MemoryDedicatedAllocateInfo::default();
        match self.object {
            Object::Buffer(buffer) => info.buffer(buffer),
            Object::Image(image) => info.image(image),
        }
    }

    /// Allocates as `info` says, and binds.
    pub(super) fn allocate(&mut self, vulkan: &Vulkan, info: &vk::MemoryAllocateInfo<'_>) -> Result<()> {
        // SAFETY: the caller's structures live through the call; size and type are those that the object asked for.
        self.memory = unsafe { self.device.allocate_memory(info, None) }.map_err(vulkan.failed("vkAllocateMemory"))?;
        self.bytes = info.allocation_size;
        // SAFETY: both are of this device, the object has no memory yet and the allocation is large enough.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => {
                    self.device.bind_buffer_memory(buffer, self.memory, 0).map_err(vulkan.failed("vkBindBufferMemory"))
                }
                Object::Image(image) => {
                    self.device.bind_image_memory(image, self.memory, 0).map_err(vulkan.failed("vkBindImageMemory"))
                }
            }
        }
    }

    /// Allocates of the GPU's own memory, for the object alone, what others can open.
    pub(super) fn allocate_exported(&mut self, vulkan: &Vulkan) -> Result<()> {
        let needs = self.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = vulkan
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .ok_or_else(|| vulkan.unsupported("create_staging", "no memory of the GPU's own holds it"))?;
        let mut dedicated = self.dedicated();
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(OPAQUE_MEMORY);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut dedicated)
            .push_next(&mut export);
        self.allocate(vulkan, &info)
    }

    pub(super) fn object(&self) -> Object {
        self.object
    }

    pub(super) fn memory(&self) -> vk::DeviceMemory {
        self.memory
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: both were made once of this device, which is alive; wgpu has no work left that uses them.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => self.device.destroy_buffer(buffer, None),
                Object::Image(image) => self.device.destroy_image(image, None),
            }
            self.device.free_memory(self.memory, None);
        }
    }
}

/// Memory that others can open, as long as the block is kept.
pub(crate) struct Exported(pub(super) Arc<Allocation>);

impl Exported {
    /// A new descriptor of the memory.
    pub(crate) fn handle(&self, shared: &Shared) -> Result<SharedHandle> {
        const OP: &str = "export";
        let vulkan = shared.vulkan.as_ref().ok_or_else(|| shared.unsupported(OP, Vulkan::ABSENT))?;
        let Some(functions) = &vulkan.memory_fd else {
            return Err(vulkan.unsupported(OP, "the device was made without VK_KHR_external_memory_fd"));
        };
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.0.memory()).handle_type(OPAQUE_MEMORY);
        // SAFETY: the memory is of this device and was allocated to be exported.
        let fd = unsafe { functions.get_memory_fd(&info) }.map_err(vulkan.failed("vkGetMemoryFdKHR"))?;
        // SAFETY: the descriptor is new and ours.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(SharedHandle::OpaqueFd { fd, bytes: self.0.bytes(), dedicated: true })
    }
}
