//! Memory that another API allocates and exports, on machines with no GPU too: Vulkan on the CPU (lavapipe).
#![allow(dead_code, clippy::unwrap_used)] // each test file uses its part; helpers of tests may panic as tests may

use ash::vk;
use interop_core::{DeviceIdentity, ImageDesc, PixelFormat, SharedHandle};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::rc::Rc;

const FD: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;

fn failed(what: &'static str) -> impl Fn(vk::Result) -> String {
    move |e| format!("{what}: {e}")
}

/// Vulkan on the device that draws.
pub struct Vulkan {
    device: ash::Device,
    physical: vk::PhysicalDevice,
    instance: ash::Instance,
    _entry: ash::Entry,
}

impl Vulkan {
    /// The reason where there is none.
    pub fn new(gl: &DeviceIdentity) -> Result<Rc<Self>, String> {
        // SAFETY: the loader is a library without surprises at loading; every handle below is of the object it is
        // given to, and the structures live through the calls.
        unsafe {
            let entry = ash::Entry::load().map_err(|e| e.to_string())?;
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
            let instance = entry
                .create_instance(&vk::InstanceCreateInfo::default().application_info(&app), None)
                .map_err(failed("vkCreateInstance"))?;
            let is_it = |p: &vk::PhysicalDevice| {
                let mut id = vk::PhysicalDeviceIDProperties::default();
                let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
                instance.get_physical_device_properties2(*p, &mut properties);
                gl.uuid.is_some_and(|uuid| uuid.0 == id.device_uuid)
            };
            let found = instance.enumerate_physical_devices().unwrap_or_default().into_iter().find(is_it);
            let physical = found.ok_or("Vulkan does not list the device that draws")?;
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let extensions = [ash::khr::external_memory_fd::NAME.as_ptr()];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
            let device = instance.create_device(physical, &info, None).map_err(failed("vkCreateDevice"))?;
            Ok(Rc::new(Self { device, physical, instance, _entry: entry }))
        }
    }

    fn memory_type(&self, allowed: u32, wanted: vk::MemoryPropertyFlags) -> Option<u32> {
        // SAFETY: the physical device is of this instance.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let fits = |(i, t): (usize, &vk::MemoryType)| allowed & (1 << i) != 0 && t.property_flags.contains(wanted);
        types.memory_types_as_slice().iter().enumerate().position(fits).map(|i| i as u32)
    }

    fn export(&self, memory: vk::DeviceMemory) -> OwnedFd {
        let extension = ash::khr::external_memory_fd::Device::new(&self.instance, &self.device);
        let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(FD);
        // SAFETY: the memory is of this device and was allocated to be exported; the descriptor is new and ours.
        unsafe { OwnedFd::from_raw_fd(extension.get_memory_fd(&info).unwrap()) }
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: each was made once; all that was made of them is gone, and no work is left.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// Linear memory that the host can write.
pub struct Exported {
    bytes: usize,
    mapped: *mut u8,
    memory: vk::DeviceMemory,
    vulkan: Rc<Vulkan>,
}

impl Exported {
    /// At least `bytes` bytes. As on GPUs the allocation is larger than what is used of it.
    pub fn new(vulkan: &Rc<Vulkan>, bytes: usize) -> Result<Self, String> {
        let bytes = (bytes + 1).next_multiple_of(1 << 16);
        let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let index = vulkan.memory_type(u32::MAX, wanted).ok_or("no memory that the host can write")?;
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(FD);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(bytes as u64)
            .memory_type_index(index)
            .push_next(&mut export);
        let device = &vulkan.device;
        // SAFETY: the structures live through the calls, the handles are of this device.
        unsafe {
            let memory = device.allocate_memory(&info, None).map_err(failed("vkAllocateMemory"))?;
            let flags = vk::MemoryMapFlags::empty();
            let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).map_err(failed("vkMapMemory"))?;
            Ok(Self { bytes, mapped: mapped.cast(), memory, vulkan: Rc::clone(vulkan) })
        }
    }

    /// A new descriptor of the memory.
    pub fn handle(&self) -> SharedHandle {
        SharedHandle::OpaqueFd { fd: self.vulkan.export(self.memory), bytes: self.bytes as u64, dedicated: false }
    }

    /// What a kernel would do.
    pub fn write(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.bytes);
        // SAFETY: mapped for that many bytes; GL was waited for by the tests.
        unsafe { self.mapped.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // SAFETY: made once, and used by no command.
        unsafe { self.vulkan.device.free_memory(self.memory, None) }
    }
}

/// An image in memory of its own, allocated here or opened.
pub struct Image {
    image: vk::Image,
    memory: vk::DeviceMemory,
    bytes: u64,
    desc: ImageDesc,
    vulkan: Rc<Vulkan>,
}

fn vulkan_format(format: PixelFormat) -> vk::Format {
    match format {
        PixelFormat::R8 => vk::Format::R8_UNORM,
        PixelFormat::Rg8 => vk::Format::R8G8_UNORM,
        PixelFormat::Rgba8 => vk::Format::R8G8B8A8_UNORM,
        PixelFormat::Rgba16F => vk::Format::R16G16B16A16_SFLOAT,
        PixelFormat::R32F => vk::Format::R32_SFLOAT,
        _ => vk::Format::R32G32B32A32_SFLOAT,
    }
}

impl Image {
    pub fn allocate(vulkan: &Rc<Vulkan>, desc: &ImageDesc) -> Result<Self, String> {
        Self::new(vulkan, desc, None)
    }

    /// Opens the memory of an image of the same description.
    pub fn open(vulkan: &Rc<Vulkan>, desc: &ImageDesc, handle: SharedHandle) -> Result<Self, String> {
        Self::new(vulkan, desc, Some(handle))
    }

    fn new(vulkan: &Rc<Vulkan>, desc: &ImageDesc, open: Option<SharedHandle>) -> Result<Self, String> {
        use vk::ImageUsageFlags as Usage;
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(FD);
        let info = vk::ImageCreateInfo::default()
            .flags(vk::ImageCreateFlags::MUTABLE_FORMAT)
            .image_type(vk::ImageType::TYPE_2D)
            .format(vulkan_format(desc.format))
            .extent(vk::Extent3D { width: desc.extent.width, height: desc.extent.height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(
                Usage::SAMPLED | Usage::STORAGE | Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC | Usage::TRANSFER_DST,
            )
            .push_next(&mut external);
        let device = &vulkan.device;
        // SAFETY: the structures live through the calls, the handles are of this device. An opened descriptor is the
        // driver's after success.
        unsafe {
            let image = device.create_image(&info, None).map_err(failed("vkCreateImage"))?;
            let needs = device.get_image_memory_requirements(image);
            let index = vulkan.memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::DEVICE_LOCAL).unwrap();
            let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(image);
            let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(FD);
            let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(FD);
            let mut bytes = needs.size;
            let info = vk::MemoryAllocateInfo::default().memory_type_index(index).push_next(&mut dedicated);
            let info = match open {
                None => info.push_next(&mut export),
                Some(SharedHandle::OpaqueFd { fd, bytes: whole, dedicated }) => {
                    assert!(dedicated && whole >= needs.size, "{whole} bytes, {} needed", needs.size);
                    bytes = whole;
                    import.fd = fd.into_raw_fd();
                    info.push_next(&mut import)
                }
                Some(other) => return Err(format!("not memory: {other:?}")),
            };
            let memory = device.allocate_memory(&info.allocation_size(bytes), None);
            let memory = memory.map_err(failed("vkAllocateMemory"))?;
            device.bind_image_memory(image, memory, 0).map_err(failed("vkBindImageMemory"))?;
            Ok(Self { image, memory, bytes, desc: *desc, vulkan: Rc::clone(vulkan) })
        }
    }

    /// A new descriptor of the memory.
    pub fn handle(&self) -> SharedHandle {
        SharedHandle::OpaqueFd { fd: self.vulkan.export(self.memory), bytes: self.bytes, dedicated: true }
    }

    /// Writes tight rows, and waits until they are there.
    pub fn write(&mut self, pixels: &[u8]) {
        let Vulkan { device, .. } = self.vulkan.as_ref();
        let (extent, mip) = (self.desc.extent, vk::ImageAspectFlags::COLOR);
        let range = vk::ImageSubresourceRange::default().aspect_mask(mip).level_count(1).layer_count(1);
        let layer = vk::ImageSubresourceLayers::default().aspect_mask(mip).layer_count(1);
        let to_general = vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.image)
            .subresource_range(range);
        let copy = vk::BufferImageCopy::default().image_subresource(layer).image_extent(vk::Extent3D {
            width: extent.width,
            height: extent.height,
            depth: 1,
        });
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let info = vk::BufferCreateInfo::default().size(pixels.len() as u64).usage(usage);
        // SAFETY: everything is of this device, lives through its use, and is waited for.
        unsafe {
            let buffer = device.create_buffer(&info, None).unwrap();
            let needs = device.get_buffer_memory_requirements(buffer);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let index = self.vulkan.memory_type(needs.memory_type_bits, wanted).unwrap();
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            mapped.cast::<u8>().copy_from_nonoverlapping(pixels.as_ptr(), pixels.len());
            device.unmap_memory(memory);
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap();
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            let (top, transfer) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::TRANSFER);
            device.cmd_pipeline_barrier(
                commands[0],
                top,
                transfer,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &[to_general],
            );
            device.cmd_copy_buffer_to_image(commands[0], buffer, self.image, vk::ImageLayout::GENERAL, &[copy]);
            device.end_command_buffer(commands[0]).unwrap();
            let queue = device.get_device_queue(0, 0);
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            device.queue_submit(queue, &[submit], vk::Fence::null()).unwrap();
            device.queue_wait_idle(queue).unwrap();
            device.destroy_command_pool(pool, None);
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: made once; the queue was waited for.
        unsafe {
            self.vulkan.device.destroy_image(self.image, None);
            self.vulkan.device.free_memory(self.memory, None);
        }
    }
}
