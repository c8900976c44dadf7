//! The image of an engine, and the submissions that copy a frame into it.

use ash::vk;
use interop_core::{Extent, ImageView};
use pixelferry_vulkan::VulkanDisplay;
use pixelferry_vulkan::sharing::{Allocation, Instance, Object, SharingDevice};
use std::sync::Arc;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A semaphore and its value.
pub type Point = (vk::Semaphore, u64);

pub struct Engine {
    pub extent: Extent,
    /// The display's own device, as a program written by hand would have it.
    pub sharing: SharingDevice,
    device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    image: vk::Image,
    _allocation: Allocation,
    _display: Arc<VulkanDisplay>,
}

impl Engine {
    pub fn new(display: &Arc<VulkanDisplay>, extent: Extent) -> Self {
        let instance = Instance::get("Vulkan").expect("an instance").raw().clone();
        let (device, (queue, family)) = (display.device_functions().clone(), display.queue());
        let desc = interop_core::ImageDesc::new(extent.width, extent.height, interop_core::PixelFormat::Rgba8);
        // SAFETY: all is of the display's device, which was made with all that is listed of it and is kept.
        unsafe {
            let needs = pixelferry_vulkan::device_extensions(&instance, display.physical_device()).expect("extensions");
            let (physical, timeline) = (display.physical_device(), needs.timeline_semaphore);
            let has = |name: &std::ffi::CStr| needs.names().contains(&name);
            let sharing = SharingDevice::new(instance, physical, device.clone(), has, timeline, "the engine".into());
            let usage = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
            let (image, _allocation) = sharing.local_image(&desc, usage).expect("an image");
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(family).flags(flags);
            let pool = device.create_command_pool(&info, None).expect("a pool");
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info).expect("commands")[0];
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).expect("a fence");
            let _display = Arc::clone(display);
            Self { extent, sharing, device, queue, pool, commands, fence, image, _allocation, _display }
        }
    }

    /// Copies rows into the image in a submission of its own, and waits for it.
    pub fn show(&self, buffer: vk::Buffer, view: &ImageView, waits: Option<Point>, signal: Option<Point>) {
        let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let copy = self.copy(view.offset as u64, (view.pitch() / 4) as u32);
        self.run(waits, signal, |device, commands| {
            // SAFETY: the rows lie in the buffer, which lives until this returns.
            unsafe {
                self.change(vk::ImageLayout::UNDEFINED, layout);
                device.cmd_copy_buffer_to_image(commands, buffer, self.image, layout, &[copy]);
            }
        });
    }

    fn copy(&self, offset: u64, row_length: u32) -> vk::BufferImageCopy {
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        vk::BufferImageCopy::default()
            .buffer_offset(offset)
            .buffer_row_length(row_length)
            .image_subresource(layers)
            .image_extent(vk::Extent3D { width: self.extent.width, height: self.extent.height, depth: 1 })
    }

    /// # Safety
    /// Commands are being recorded.
    unsafe fn change(&self, from: vk::ImageLayout, to: vk::ImageLayout) {
        let access = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
        let range =
            vk::ImageSubresourceRange::default().aspect_mask(vk::ImageAspectFlags::COLOR).level_count(1).layer_count(1);
        let barrier = vk::ImageMemoryBarrier::default()
            .image(self.image)
            .old_layout(from)
            .new_layout(to)
            .src_access_mask(access)
            .dst_access_mask(access)
            .subresource_range(range);
        let (stage, none) = (vk::PipelineStageFlags::TRANSFER, vk::DependencyFlags::empty());
        // SAFETY: the caller's promise.
        unsafe { self.device.cmd_pipeline_barrier(self.commands, stage, stage, none, &[], &[], &[barrier]) };
    }

    fn run(&self, wait: Option<Point>, signal: Option<Point>, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let ((waits, wait_values), (signals, signal_values)): ((Vec<_>, Vec<_>), (Vec<_>, Vec<_>)) =
            (wait.into_iter().unzip(), signal.into_iter().unzip());
        let stages = vec![vk::PipelineStageFlags::TRANSFER; waits.len()];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let (device, commands) = (&self.device, [self.commands]);
        let submit = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut values);
        // SAFETY: the GPU has done with the commands, and everything in this program is on one thread.
        unsafe {
            device.begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default()).expect("recording");
            record(device, self.commands);
            device.end_command_buffer(self.commands).expect("commands");
            device.queue_submit(self.queue, &[submit], self.fence).expect("a submission");
            device.wait_for_fences(&[self.fence], true, u64::MAX).expect("the end of it");
            device.reset_fences(&[self.fence]).expect("a fence");
        }
    }

    /// Returns the pixels of the image.
    pub fn pixels(&self) -> Vec<u8> {
        let len = self.extent.pixels() as usize * 4;
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let (made, address) = self.sharing.mapped_buffer(len as u64, usage).expect("memory");
        let Object::Buffer(buffer) = made.object() else { panic!("no buffer") };
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        self.run(None, None, |device, commands| {
            let memory = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            let (from, to) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            // SAFETY: the buffer holds the image.
            unsafe {
                self.change(vk::ImageLayout::TRANSFER_DST_OPTIMAL, layout);
                device.cmd_copy_image_to_buffer(commands, self.image, layout, buffer, &[self.copy(0, 0)]);
                device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &[memory], &[], &[]);
            }
        });
        debug_assert_eq!(FORMAT, pixelferry_vulkan::sharing::vk_format(interop_core::PixelFormat::Rgba8));
        // SAFETY: so many bytes are mapped there, which nothing writes any more.
        unsafe { std::slice::from_raw_parts(address.as_ptr(), len) }.to_vec()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: each submission was waited for.
        unsafe {
            self.device.destroy_fence(self.fence, None);
            self.device.destroy_command_pool(self.pool, None);
        }
    }
}
