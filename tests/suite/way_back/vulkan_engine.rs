//! An engine on raw Vulkan.

use super::engine::{BYTES, Engine, HEIGHT, Scene, WIDTH, filling};
use pixelferry::api::vulkan::ash::{self, vk};
use pixelferry::api::vulkan::{EngineBuffer, EngineImage, VulkanDisplay};
use pixelferry::{Display, Extent, Surface};
use std::sync::Arc;

const LAYOUT: vk::ImageLayout = vk::ImageLayout::GENERAL;
const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);
const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw() | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);
const EXTENT: vk::Extent3D = vk::Extent3D { width: WIDTH as u32, height: HEIGHT as u32, depth: 1 };

/// Memory of the engine's that it reads and writes where it lies.
struct EngineMemory {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    address: *mut u8,
    len: usize,
}

/// The engine: an image and a buffer of its own in the display's device, and one for what it uploads.
pub struct VulkanEngine {
    display: Arc<VulkanDisplay>,
    pool: vk::CommandPool,
    image: vk::Image,
    memory: vk::DeviceMemory,
    buffer: EngineMemory,
    rows: EngineMemory,
}

/// Memory of a type with these properties, for what needs it so.
fn allocate(
    display: &VulkanDisplay,
    needs: vk::MemoryRequirements,
    wanted: vk::MemoryPropertyFlags,
) -> vk::DeviceMemory {
    // SAFETY: the loader may be opened at any time; instance and device are alive, and the structures live through the calls.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let instance = ash::Instance::load(entry.static_fn(), display.instance());
        let listed = instance.get_physical_device_memory_properties(display.physical_device());
        let fits = |(at, kind): &(u32, &vk::MemoryType)| {
            needs.memory_type_bits & (1 << at) != 0 && kind.property_flags.contains(wanted)
        };
        let (kind, _) = (0..).zip(listed.memory_types_as_slice()).find(fits).unwrap();
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
        display.device_functions().allocate_memory(&info, None).unwrap()
    }
}

impl EngineMemory {
    fn new(display: &VulkanDisplay, len: usize) -> Self {
        let device = display.device_functions();
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let info = vk::BufferCreateInfo::default().size(len as u64).usage(BUFFER_USAGE);
        // SAFETY: all is of this device, which is alive.
        unsafe {
            let buffer = device.create_buffer(&info, None).unwrap();
            let memory = allocate(display, device.get_buffer_memory_requirements(buffer), host);
            device.bind_buffer_memory(buffer, memory, 0).unwrap();
            let address = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            Self { buffer, memory, address: address.cast(), len }
        }
    }

    fn write(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.len);
        // SAFETY: so much is mapped, and the queue was waited for.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address, bytes.len()) };
    }

    fn read(&self, len: usize) -> Vec<u8> {
        assert!(len <= self.len);
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.address, len) }.to_vec()
    }
}

impl VulkanEngine {
    pub fn new(display: Arc<VulkanDisplay>) -> Self {
        let device = display.device_functions();
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(display.queue().1);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(EXTENT)
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(USAGE);
        // SAFETY: all is of this device, which is alive.
        let (pool, image, memory) = unsafe {
            let image = device.create_image(&info, None).unwrap();
            let memory =
                allocate(&display, device.get_image_memory_requirements(image), vk::MemoryPropertyFlags::empty());
            device.bind_image_memory(image, memory, 0).unwrap();
            (device.create_command_pool(&pool, None).unwrap(), image, memory)
        };
        let buffer = EngineMemory::new(&display, BYTES as usize + 24);
        let rows = EngineMemory::new(&display, (WIDTH * HEIGHT * 4) as usize);
        let engine = Self { display, pool, image, memory, buffer, rows };
        engine.submit(|device, commands| engine.change(device, commands, vk::ImageLayout::UNDEFINED));
        engine
    }

    /// Puts the image into its layout.
    fn change(&self, device: &ash::Device, commands: vk::CommandBuffer, from: vk::ImageLayout) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let barrier = vk::ImageMemoryBarrier::default()
            .image(self.image)
            .old_layout(from)
            .new_layout(LAYOUT)
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..vk::ImageSubresourceRange::default()
            });
        // SAFETY: commands are being recorded, and the image is of this device.
        unsafe {
            device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
        }
    }

    /// A submission of the engine's own, which is waited for.
    fn submit(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let (device, (queue, _)) = (self.display.device_functions(), self.display.queue());
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: all is of this device; nothing else uses the queue meanwhile, as all is on this thread.
        unsafe {
            let commands = device.allocate_command_buffers(&info).unwrap();
            device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()).unwrap();
            record(device, commands[0]);
            device.end_command_buffer(commands[0]).unwrap();
            let submit = vk::SubmitInfo::default().command_buffers(&commands);
            device.queue_submit(queue, &[submit], vk::Fence::null()).unwrap();
            device.queue_wait_idle(queue).unwrap();
            device.free_command_buffers(self.pool, &commands);
        }
    }

    fn whole() -> vk::BufferImageCopy {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..vk::ImageSubresourceLayers::default()
        };
        vk::BufferImageCopy::default().image_subresource(layers).image_extent(EXTENT)
    }
}

impl Drop for VulkanEngine {
    fn drop(&mut self) {
        self.display.finish().unwrap();
        let device = self.display.device_functions();
        // SAFETY: all is of this device and was waited for; the surfaces are gone.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            device.destroy_image(self.image, None);
            device.free_memory(self.memory, None);
            for mapped in [&self.buffer, &self.rows] {
                device.destroy_buffer(mapped.buffer, None);
                device.free_memory(mapped.memory, None);
            }
        }
    }
}

impl Engine for VulkanEngine {
    fn display(&self) -> Arc<dyn Display> {
        Arc::clone(&self.display) as _
    }

    fn render(&self, n: u32) -> Vec<u8> {
        let rows = Scene::new(n).rows();
        self.rows.write(&rows);
        self.submit(|device, commands| {
            // SAFETY: the commands are being recorded; buffer and image hold the rows.
            unsafe {
                device.cmd_copy_buffer_to_image(commands, self.rows.buffer, self.image, LAYOUT, &[Self::whole()]);
            }
            self.change(device, commands, LAYOUT);
        });
        rows
    }

    fn fill(&self, n: u8) -> Vec<u8> {
        // Copies of the last bytes may still run.
        self.display.finish().unwrap();
        let bytes = filling(n);
        self.buffer.write(&bytes);
        bytes
    }

    fn image(&self) -> Surface {
        let image = EngineImage {
            image: self.image,
            format: vk::Format::R8G8B8A8_UNORM,
            extent: Extent::new(WIDTH as u32, HEIGHT as u32),
            usage: USAGE,
            layout: LAYOUT,
        };
        // SAFETY: it is as it says, of the display's family, and goes after the surface.
        unsafe { self.display.engine_image(&image) }.unwrap()
    }

    fn bytes(&self) -> Surface {
        let buffer = EngineBuffer { buffer: self.buffer.buffer, bytes: BYTES, usage: BUFFER_USAGE };
        // SAFETY: as above.
        unsafe { self.display.engine_buffer(&buffer) }.unwrap()
    }

    fn pixels(&self) -> Vec<u8> {
        self.submit(|device, commands| {
            // SAFETY: as in `render`.
            unsafe {
                device.cmd_copy_image_to_buffer(commands, self.image, LAYOUT, self.rows.buffer, &[Self::whole()]);
            }
        });
        self.rows.read(self.rows.len)
    }

    fn contents(&self) -> Vec<u8> {
        self.display.finish().unwrap();
        self.buffer.read(BYTES as usize)
    }
}
