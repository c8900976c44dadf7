//! Memory that others can open, made for one image or buffer alone: `VK_KHR_external_memory_fd`.

use super::VulkanDevice;
use ash::vk;
use interop_core::Result;
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;

pub(super) const OP: &str = "create_staging";
pub(super) const OPAQUE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;

/// What the memory was made for.
#[derive(Clone, Copy)]
pub(super) enum Object {
    Image(vk::Image),
    Buffer(vk::Buffer),
}

/// An image or a buffer with its allocation. Those who opened a descriptor of it keep the memory after this is dropped.
pub(crate) struct VulkanMemory {
    device: Rc<VulkanDevice>,
    object: Object,
    memory: vk::DeviceMemory,
    bytes: u64,
}

impl VulkanMemory {
    /// Gives the object memory. It is destroyed where that fails, too.
    ///
    /// # Safety
    /// The object is of this device, was made to be exported, has no memory, and is the caller's to give.
    pub(super) unsafe fn new(device: &Rc<VulkanDevice>, object: Object) -> Result<Self> {
        // From here on dropped as a whole; freeing memory that is null does nothing.
        let mut made = Self { device: Rc::clone(device), object, memory: vk::DeviceMemory::null(), bytes: 0 };
        made.allocate()?;
        Ok(made)
    }

    fn allocate(&mut self) -> Result<()> {
        let device = &self.device;
        let dedicated = vk::MemoryDedicatedAllocateInfo::default();
        // SAFETY: the object is of this device.
        let (needs, mut dedicated) = unsafe {
            match self.object {
                Object::Image(image) => (device.device.get_image_memory_requirements(image), dedicated.image(image)),
                Object::Buffer(buffer) => {
                    (device.device.get_buffer_memory_requirements(buffer), dedicated.buffer(buffer))
                }
            }
        };
        // SAFETY: the physical device is of this instance.
        let types = unsafe { device.instance().get_physical_device_memory_properties(device.physical) };
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = (0u32..).zip(types.memory_types_as_slice()).find_map(|(index, kind)| {
            (needs.memory_type_bits & (1 << index) != 0 && kind.property_flags.contains(local)).then_some(index)
        });
        let index = index.ok_or_else(|| device.unsupported(OP, "no memory of the GPU's own holds it".into()))?;
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(OPAQUE);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut dedicated)
            .push_next(&mut export);
        // SAFETY: the structures live through the call; size and type are those that the object asked for.
        self.memory =
            unsafe { device.device.allocate_memory(&info, None) }.map_err(device.failed("vkAllocateMemory"))?;
        self.bytes = needs.size;
        // SAFETY: both are of this device, the object has no memory yet and the allocation is large enough.
        unsafe {
            match self.object {
                Object::Image(image) => {
                    device.device.bind_image_memory(image, self.memory, 0).map_err(device.failed("vkBindImageMemory"))
                }
                Object::Buffer(buffer) => device
                    .device
                    .bind_buffer_memory(buffer, self.memory, 0)
                    .map_err(device.failed("vkBindBufferMemory")),
            }
        }
    }

    /// A new descriptor of the memory.
    pub(crate) fn fd(&self) -> Result<OwnedFd> {
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.memory).handle_type(OPAQUE);
        // SAFETY: the memory is of this device and was allocated to be exported.
        let fd = unsafe { self.device.memory_fd.get_memory_fd(&info) };
        let fd = fd.map_err(self.device.failed("vkGetMemoryFdKHR"))?;
        // SAFETY: the descriptor is new and ours.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Bytes of the whole allocation.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for VulkanMemory {
    fn drop(&mut self) {
        let device = &self.device.device;
        // SAFETY: both were made once of this device, which is alive, and Vulkan was told to do nothing with them.
        unsafe {
            match self.object {
                Object::Image(image) => device.destroy_image(image, None),
                Object::Buffer(buffer) => device.destroy_buffer(buffer, None),
            }
            device.free_memory(self.memory, None);
        }
    }
}
