//! The engine's instance, device and memory, by ash. Nothing here depends on pixelferry.

use crate::engine::Failure;
use pixelferry::api::vulkan::ash;
pub use pixelferry::api::vulkan::ash::vk;
use std::ffi::CStr;
use std::ptr::copy_nonoverlapping;
use std::slice::from_raw_parts;
use std::sync::Arc;

/// A device with one queue that draws.
pub struct Gpu {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub extensions: Vec<&'static CStr>,
    pub queue: vk::Queue,
    pub family: u32,
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: whatever was made of them keeps this.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Ranks a GPU before an implementation on the CPU.
fn rank(kind: vk::PhysicalDeviceType) -> u8 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::CPU => 2,
        _ => 1,
    }
}

impl Gpu {
    /// Opens the best device with Vulkan 1.3, and enables the extensions that `wanted` returns for it.
    pub fn new(
        wanted: impl FnOnce(&ash::Instance, vk::PhysicalDevice) -> Result<Vec<&'static CStr>, Failure>,
    ) -> Result<Self, Failure> {
        // SAFETY: the loader may be opened at any time, and the structures live through the calls.
        unsafe {
            let entry = ash::Entry::load()?;
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)?;
            let about = |physical: &vk::PhysicalDevice| instance.get_physical_device_properties(*physical);
            let mut listed = instance.enumerate_physical_devices()?;
            listed.retain(|physical| about(physical).api_version >= vk::API_VERSION_1_3);
            let best = listed.into_iter().min_by_key(|physical| rank(about(physical).device_type));
            let physical = best.ok_or("Vulkan lists no device of 1.3")?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let draws = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
            let family = families.iter().position(draws).ok_or("no queue supports drawing")? as u32;
            let extensions = wanted(&instance, physical)?;
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
            let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .push_next(&mut counters)
                .push_next(&mut rendering);
            let device = instance.create_device(physical, &info, None)?;
            let queue = device.get_device_queue(family, 0);
            Ok(Self { entry, instance, physical, device, extensions, queue, family })
        }
    }

    fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        wanted: vk::MemoryPropertyFlags,
    ) -> Result<vk::DeviceMemory, Failure> {
        // SAFETY: the physical device is of this instance.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let fits = |(i, kind): &(u32, &vk::MemoryType)| {
            needs.memory_type_bits & (1 << i) != 0 && kind.property_flags.contains(wanted)
        };
        let (index, _) = (0..).zip(types.memory_types_as_slice()).find(fits).ok_or("no suitable memory type")?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: the structure lives through the call.
        Ok(unsafe { self.device.allocate_memory(&info, None) }?)
    }
}

/// A buffer that the host writes or reads.
pub struct MappedBuffer {
    gpu: Arc<Gpu>,
    pub buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    address: *mut u8,
    len: usize,
}

impl MappedBuffer {
    pub fn new(gpu: &Arc<Gpu>, len: usize, usage: vk::BufferUsageFlags) -> Result<Self, Failure> {
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        // SAFETY: all is of this device; the structures live through the calls.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(len as u64).usage(usage);
            let buffer = gpu.device.create_buffer(&info, None)?;
            let memory = gpu.allocate(gpu.device.get_buffer_memory_requirements(buffer), host)?;
            gpu.device.bind_buffer_memory(buffer, memory, 0)?;
            let address = gpu.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast();
            Ok(Self { gpu: Arc::clone(gpu), buffer, memory, address, len })
        }
    }

    /// Writes the first bytes of the buffer, which the GPU must not be using.
    pub fn write(&mut self, bytes: &[u8]) {
        let len = bytes.len().min(self.len);
        // SAFETY: so many bytes are mapped there.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), self.address, len) };
    }

    /// Returns the bytes of the buffer, which the GPU must not be writing.
    pub fn read(&self) -> Vec<u8> {
        // SAFETY: so many bytes are mapped there.
        unsafe { from_raw_parts(self.address, self.len) }.to_vec()
    }
}

impl Drop for MappedBuffer {
    fn drop(&mut self) {
        // SAFETY: the renderer waits for the GPU before it drops anything.
        unsafe {
            self.gpu.device.destroy_buffer(self.buffer, None);
            self.gpu.device.free_memory(self.memory, None);
        }
    }
}

/// An image to draw to.
pub struct Attachment {
    gpu: Arc<Gpu>,
    pub image: vk::Image,
    pub view: vk::ImageView,
    pub size: (u32, u32),
    memory: vk::DeviceMemory,
}

impl Attachment {
    pub fn new(
        gpu: &Arc<Gpu>,
        size: (u32, u32),
        format: vk::Format,
        usage: vk::ImageUsageFlags,
        aspect: vk::ImageAspectFlags,
    ) -> Result<Self, Failure> {
        // SAFETY: as for buffers.
        unsafe {
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(format)
                .extent(vk::Extent3D { width: size.0, height: size.1, depth: 1 })
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
                .usage(usage);
            let image = gpu.device.create_image(&info, None)?;
            let needs = gpu.device.get_image_memory_requirements(image);
            let memory = gpu.allocate(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
            gpu.device.bind_image_memory(image, memory, 0)?;
            let view = view(&gpu.device, image, format, aspect)?;
            Ok(Self { gpu: Arc::clone(gpu), image, view, size, memory })
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        // SAFETY: as for buffers.
        unsafe {
            self.gpu.device.destroy_image_view(self.view, None);
            self.gpu.device.destroy_image(self.image, None);
            self.gpu.device.free_memory(self.memory, None);
        }
    }
}

/// The whole of an image with one mip level.
pub fn range(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1)
}

/// # Safety
/// The image belongs to this device and is destroyed after the view.
pub unsafe fn view(
    device: &ash::Device,
    image: vk::Image,
    format: vk::Format,
    aspect: vk::ImageAspectFlags,
) -> Result<vk::ImageView, Failure> {
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(range(aspect));
    // SAFETY: the caller's promise.
    Ok(unsafe { device.create_image_view(&info, None) }?)
}
