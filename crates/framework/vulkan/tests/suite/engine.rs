//! An engine as programs on raw Vulkan are: instance, device and queue by hand.

use crate::device;
use ash::vk;
use interop_core::Extent;
use pixelferry_testing::{Need, need};
use pixelferry_vulkan::{
    DeviceNeeds, TimelinePoint, VulkanDisplay, VulkanEngine, VulkanFrame, VulkanObject, ash, device_extensions,
};
use std::ffi::CStr;
use std::sync::{Arc, Mutex};

/// Vulkan objects, destroyed when nobody has them any more.
pub struct Vulkan {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub needs: DeviceNeeds,
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: whoever uses them keeps this.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

pub struct Engine {
    pub vulkan: Arc<Vulkan>,
    pub queue: vk::Queue,
    pub family: u32,
    /// Held by whoever uses the queue.
    pub lock: Arc<Mutex<u32>>,
    /// Made without extensions and without timeline semaphores.
    pub bare: bool,
}

/// Mapped memory that the engine copies frames to.
struct HostCopy {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    address: *const u8,
}

impl Engine {
    /// `None` after saying SKIPPED.
    pub fn make(bare: bool) -> Option<Self> {
        // SAFETY: the loader may be opened at any time, and the structures live through the calls.
        unsafe {
            let entry = need(Need::Lavapipe, ash::Entry::load())?;
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let info = vk::InstanceCreateInfo::default().application_info(&app);
            let instance = entry.create_instance(&info, None).unwrap();
            let named = |physical: &vk::PhysicalDevice| {
                let about = instance.get_physical_device_properties(*physical);
                about.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy().contains(&device()))
            };
            let listed = instance.enumerate_physical_devices().unwrap();
            let Some(physical) = need(Need::Lavapipe, listed.into_iter().find(named).ok_or("no such device")) else {
                instance.destroy_instance(None);
                return None;
            };
            let families = instance.get_physical_device_queue_family_properties(physical);
            let draws = |family: &vk::QueueFamilyProperties| family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
            let family = families.iter().position(draws).unwrap() as u32;
            let needs = device_extensions(&instance, physical).unwrap();
            let names = if bare { Vec::new() } else { needs.names() };
            let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
            let mut info =
                vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&pointers);
            if !bare {
                info = info.push_next(&mut counters);
            }
            let device = instance.create_device(physical, &info, None).unwrap();
            let queue = device.get_device_queue(family, 0);
            let vulkan = Arc::new(Vulkan { entry, instance, physical, device, needs });
            Some(Self { vulkan, queue, family, lock: Arc::default(), bare })
        }
    }

    pub fn extensions(&self) -> Vec<&'static CStr> {
        if self.bare { Vec::new() } else { self.vulkan.needs.names() }
    }

    /// The engine's description of itself.
    pub fn described(&self) -> VulkanEngine {
        let Vulkan { entry, instance, physical, device, .. } = &*self.vulkan;
        let queue = (self.queue, self.family);
        let engine = VulkanEngine::new(entry, instance, *physical, device, queue, Arc::clone(&self.lock));
        let engine = engine.with_extensions(self.extensions()).keeping(Arc::clone(&self.vulkan));
        if self.bare { engine } else { engine.with_timeline_semaphores() }
    }

    pub fn display(&self) -> Arc<VulkanDisplay> {
        // SAFETY: the objects were made above, and the display keeps them. Frames are read by `read`, which waits.
        unsafe { VulkanDisplay::from_engine(self.described()) }.unwrap()
    }

    /// Reads a frame in a submission of the engine's own, as bytes in tight rows.
    pub fn read(&self, frame: &VulkanFrame) -> Vec<u8> {
        match frame.object {
            VulkanObject::Image { image, extent, layout, format } => {
                let pixel = pixel(format);
                let len = extent.pixels() as usize * pixel;
                // SAFETY: the frame is on show until this returns, and the buffer holds it.
                self.copied(len, |device, commands, to| unsafe {
                    copy_image(device, commands, (image, layout, extent), to);
                    frame.ready
                })
            }
            VulkanObject::Rows { buffer, view, .. } => {
                let span = view.span();
                let all = self.bytes(buffer, span.start as u64, span.len(), frame.ready);
                let view = view.moved_to(0);
                (0..view.extent.height).flat_map(|y| all[view.row(y)].to_vec()).collect()
            }
            VulkanObject::Bytes { buffer, offset, len } => self.bytes(buffer, offset, len as usize, frame.ready),
            other => panic!("{other:?}"),
        }
    }

    /// An image of the engine's that is copied to and from, of any layout.
    pub fn image(
        &self,
        format: vk::Format,
        extent: Extent,
        usage: vk::ImageUsageFlags,
    ) -> (vk::Image, vk::DeviceMemory) {
        let device = &self.vulkan.device;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: extent.width, height: extent.height, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: all is of this device; whoever called destroys it.
        unsafe {
            let image = device.create_image(&info, None).unwrap();
            let needs = device.get_image_memory_requirements(image);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(needs.memory_type_bits.trailing_zeros());
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_image_memory(image, memory, 0).unwrap();
            (image, memory)
        }
    }

    /// Returns what `draw` makes of an image of the engine's, which is zero before.
    pub fn blitted(
        &self,
        format: vk::Format,
        extent: Extent,
        draw: impl FnOnce(vk::CommandBuffer, vk::Image) -> Option<TimelinePoint>,
    ) -> Vec<u8> {
        let device = &self.vulkan.device;
        let usage = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
        let (image, memory) = self.image(format, extent, usage);
        // SAFETY: all is of this device, and lives until the submission is done.
        unsafe {
            let len = extent.pixels() as usize * pixel(format);
            let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            let seen = self.copied(len, |device, commands, to| {
                change(device, commands, image, (vk::ImageLayout::UNDEFINED, target));
                let range = [range()];
                device.cmd_clear_color_image(commands, image, target, &vk::ClearColorValue::default(), &range);
                change(device, commands, image, (target, target));
                let ready = draw(commands, image);
                copy_image(device, commands, (image, target, extent), to);
                ready
            });
            device.destroy_image(image, None);
            device.free_memory(memory, None);
            seen
        }
    }

    fn bytes(&self, from: vk::Buffer, offset: u64, len: usize, ready: Option<TimelinePoint>) -> Vec<u8> {
        // SAFETY: as above.
        self.copied(len, |device, commands, to| unsafe {
            let copy = vk::BufferCopy { src_offset: offset, dst_offset: 0, size: len as u64 };
            device.cmd_copy_buffer(commands, from, to, &[copy]);
            ready
        })
    }

    /// Returns what `record` copies to a buffer of the engine's, in its own submission, which waits for what it returns.
    pub fn copied(
        &self,
        len: usize,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::Buffer) -> Option<TimelinePoint>,
    ) -> Vec<u8> {
        let device = &self.vulkan.device;
        let to = self.mapped(len as u64);
        // SAFETY: all is of this device, lives until the fence is signalled, and the queue is used under its lock.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
            let pool = device.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).unwrap();
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            let ready = record(device, commands[0], to.buffer);
            let seen = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            let (from, host) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            device.cmd_pipeline_barrier(commands[0], from, host, vk::DependencyFlags::empty(), &[seen], &[], &[]);
            device.end_command_buffer(commands[0]).unwrap();
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            let (semaphores, values): (Vec<_>, Vec<_>) =
                ready.iter().map(|point| (point.semaphore, point.value)).unzip();
            let stages = vec![vk::PipelineStageFlags::TRANSFER; semaphores.len()];
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
            let mut submit = vk::SubmitInfo::default()
                .command_buffers(&commands)
                .wait_semaphores(&semaphores)
                .wait_dst_stage_mask(&stages);
            if !self.bare {
                submit = submit.push_next(&mut timeline);
            }
            {
                let mut uses = self.lock.lock().unwrap();
                *uses += 1;
                device.queue_submit(self.queue, &[submit], fence).unwrap();
            }
            device.wait_for_fences(&[fence], true, u64::MAX).unwrap();
            let bytes = std::slice::from_raw_parts(to.address, len).to_vec();
            device.destroy_fence(fence, None);
            device.destroy_command_pool(pool, None);
            device.destroy_buffer(to.buffer, None);
            device.free_memory(to.memory, None);
            bytes
        }
    }

    fn mapped(&self, bytes: u64) -> HostCopy {
        let (buffer, memory) = self.buffer(bytes, vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the memory is new and can be mapped.
        let address =
            unsafe { self.vulkan.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }.unwrap();
        HostCopy { buffer, memory, address: address.cast() }
    }

    /// A buffer of the engine's in memory that can be mapped.
    pub fn buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> (vk::Buffer, vk::DeviceMemory) {
        let Vulkan { instance, physical, device, .. } = &*self.vulkan;
        // SAFETY: all is of this device; the structures live through the calls. Whoever called destroys it.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
            let buffer = device.create_buffer(&info, None).unwrap();
            let needs = device.get_buffer_memory_requirements(buffer);
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let types = instance.get_physical_device_memory_properties(*physical);
            let fits = |(i, kind): &(u32, &vk::MemoryType)| {
                needs.memory_type_bits & (1 << i) != 0 && kind.property_flags.contains(wanted)
            };
            let (index, _) = (0..).zip(types.memory_types_as_slice()).find(fits).unwrap();
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
            let memory = device.allocate_memory(&info, None).unwrap();
            device.bind_buffer_memory(buffer, memory, 0).unwrap();
            (buffer, memory)
        }
    }
}

/// Bytes of a pixel.
fn pixel(format: vk::Format) -> usize {
    pixelferry_vulkan::sharing::pixel_format(format).unwrap().bytes_per_pixel()
}

/// Copies an image from the layout in which the engine got it, and leaves it in that layout.
unsafe fn copy_image(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (image, layout, extent): (vk::Image, vk::ImageLayout, Extent),
    to: vk::Buffer,
) {
    let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    // SAFETY: the promise of whoever calls.
    unsafe { change(device, commands, image, (layout, source)) };
    let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    let copy = vk::BufferImageCopy::default().image_subresource(layers).image_extent(vk::Extent3D {
        width: extent.width,
        height: extent.height,
        depth: 1,
    });
    // SAFETY: as above.
    unsafe {
        device.cmd_copy_image_to_buffer(commands, image, source, to, &[copy]);
        change(device, commands, image, (source, layout));
    }
}

pub fn range() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1)
}

/// Changes an image's layout, after which earlier writes are visible.
pub unsafe fn change(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    image: vk::Image,
    (from, to): (vk::ImageLayout, vk::ImageLayout),
) {
    let barrier = vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(from)
        .new_layout(to)
        .src_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(range());
    let stage = vk::PipelineStageFlags::TRANSFER;
    // SAFETY: the promise of whoever calls.
    unsafe { device.cmd_pipeline_barrier(commands, stage, stage, vk::DependencyFlags::empty(), &[], &[], &[barrier]) };
}
