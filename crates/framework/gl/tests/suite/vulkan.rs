//! Memory that another API allocates and exports, on machines with no GPU too: Vulkan on the CPU (lavapipe).

use ash::vk;
use interop_core::{MemoryHandle, SharedHandle};
use std::os::fd::{FromRawFd, OwnedFd};

pub struct ExportedMemory {
    bytes: usize,
    mapped: *mut u8,
    memory: vk::DeviceMemory,
    device: ash::Device,
    instance: ash::Instance,
    _entry: ash::Entry,
}

impl ExportedMemory {
    /// At least `bytes` bytes that the host can write; the reason where no Vulkan device can give them. As on GPUs the
    /// allocation is larger than what is used of it.
    pub fn new(bytes: usize) -> Result<Self, String> {
        let bytes = (bytes + 1).next_multiple_of(1 << 16);
        let failed = |what: &'static str| move |e: vk::Result| format!("{what}: {e}");
        // SAFETY: the loader is a library without surprises at loading; every handle below is of the object it is
        // given to, and the structures live through the calls.
        unsafe {
            let entry = ash::Entry::load().map_err(|e| e.to_string())?;
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
            let instance = entry
                .create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)
                .map_err(failed("vkCreateInstance"))?;
            let is_cpu = |p: &vk::PhysicalDevice| {
                instance.get_physical_device_properties(*p).device_type == vk::PhysicalDeviceType::CPU
            };
            let found = instance.enumerate_physical_devices().unwrap_or_default().into_iter().find(is_cpu);
            let physical = found.ok_or("Vulkan lists no device that is the CPU")?;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let extensions = [ash::khr::external_memory_fd::NAME.as_ptr()];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
            let device = instance.create_device(physical, &info, None).map_err(failed("vkCreateDevice"))?;
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let types = instance.get_physical_device_memory_properties(physical);
            let index =
                types.memory_types_as_slice().iter().position(|t| t.property_flags.contains(wanted)).unwrap() as u32;
            let mut export =
                vk::ExportMemoryAllocateInfo::default().handle_types(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(bytes as u64)
                .memory_type_index(index)
                .push_next(&mut export);
            let memory = device.allocate_memory(&info, None).map_err(failed("vkAllocateMemory"))?;
            let mapped = device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(failed("vkMapMemory"))?;
            Ok(Self { bytes, mapped: mapped.cast(), memory, device, instance, _entry: entry })
        }
    }

    /// A new descriptor of the memory.
    pub fn handle(&self) -> SharedHandle {
        let extension = ash::khr::external_memory_fd::Device::new(&self.instance, &self.device);
        let info = vk::MemoryGetFdInfoKHR::default()
            .memory(self.memory)
            .handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        // SAFETY: the memory is of this device and was allocated to be exported; the descriptor is new and ours.
        let handle = unsafe { OwnedFd::from_raw_fd(extension.get_memory_fd(&info).unwrap()) };
        // SAFETY: Vulkan made it of an allocation of so many bytes.
        SharedHandle::Memory(unsafe { MemoryHandle::new(handle, self.bytes as u64, false) })
    }

    /// Writes as a kernel would.
    pub fn write(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.bytes);
        // SAFETY: mapped for that many bytes; GL was waited for by the tests.
        unsafe { self.mapped.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }
}

impl Drop for ExportedMemory {
    fn drop(&mut self) {
        // SAFETY: each was made once, in the reverse order, and no work was ever submitted.
        unsafe {
            self.device.free_memory(self.memory, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
