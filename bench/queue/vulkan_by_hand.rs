//! The bench's frame written by hand on Vulkan: it records commands in each frame, with a barrier between kernel and
//! draw.

use crate::shaders::{draw, groups, kernel, straight};
use crate::{End, Subject, Work};
use ash::vk;
use pixelferry::Manner;
use pixelferry_vulkan::VulkanDisplay;
use std::sync::Arc;

/// The largest number of queued frames.
const SLOTS: usize = 8;

/// An instance and a device that are never destroyed, or those of a display.
pub struct Vulkan {
    pub device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    memory: vk::PhysicalDeviceMemoryProperties,
    // The loader of the instance and of all functions.
    _entry: ash::Entry,
    _instance: ash::Instance,
}

/// One row.
pub struct ByHand {
    work: Work,
    end: End,
    vulkan: Arc<Vulkan>,
    slots: Vec<(vk::CommandBuffer, vk::Fence)>,
    next: usize,
    kernel: Pipeline,
    draw: Pipeline,
    buffer: vk::Buffer,
    pub image: vk::Image,
    view: vk::ImageView,
    extent: vk::Extent2D,
}

#[derive(Clone, Copy)]
struct Pipeline {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

/// A resource that is bound to a shader.
enum BoundResource {
    Buffer(vk::Buffer),
    Image(vk::ImageView),
}

/// Returns every row of this size.
pub fn subjects(width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    match Vulkan::open() {
        Ok(vulkan) => {
            let vulkan = Arc::new(vulkan);
            let row = |work, end| Box::new(ByHand::new(&vulkan, (work, end), width, height)) as Box<dyn Subject>;
            let mut rows: Vec<_> = Work::ALL.into_iter().map(|work| row(work, End::Draw)).collect();
            rows.push(row(Work::Both(Manner::Compute), End::Copy));
            rows
        }
        Err(reason) => {
            println!("SKIPPED Vulkan by hand: {reason}");
            Vec::new()
        }
    }
}

/// Compiles WGSL to SPIR-V.
fn spirv(text: &str) -> Vec<u32> {
    let module = naga::front::wgsl::parse_str(text).expect("WGSL");
    let flags = naga::valid::ValidationFlags::all();
    let info =
        naga::valid::Validator::new(flags, naga::valid::Capabilities::all()).validate(&module).expect("valid WGSL");
    naga::back::spv::write_vec(&module, &info, &naga::back::spv::Options::default(), None).expect("SPIR-V")
}

impl Vulkan {
    /// Uses a display's device and queue.
    pub fn of(display: &VulkanDisplay) -> Self {
        let ((queue, family), device) = (display.queue(), display.device_functions().clone());
        // SAFETY: the display's own objects, which outlive the rows on it.
        unsafe {
            let entry = ash::Entry::load().expect("the loader that the display has");
            let instance = ash::Instance::load(entry.static_fn(), display.instance());
            let memory = instance.get_physical_device_memory_properties(display.physical_device());
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let pool = vk::CommandPoolCreateInfo::default().queue_family_index(family).flags(flags);
            let pool = device.create_command_pool(&pool, None).expect("a pool");
            Self { device, queue, pool, memory, _entry: entry, _instance: instance }
        }
    }

    fn open() -> Result<Self, String> {
        // SAFETY: the system's loader, by which wgpu opens Vulkan, too; what is made is used below only, as the
        // specification says.
        unsafe {
            let entry = ash::Entry::load().map_err(|e| e.to_string())?;
            let about = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&about), None);
            let instance = instance.map_err(|e| e.to_string())?;
            let mut all = instance.enumerate_physical_devices().map_err(|e| e.to_string())?;
            let kind = |device| instance.get_physical_device_properties(device).device_type;
            all.retain(|device| instance.get_physical_device_properties(*device).api_version >= vk::API_VERSION_1_3);
            // Devices are chosen as wgpu chooses its adapters.
            all.sort_by_key(|device| match kind(*device) {
                vk::PhysicalDeviceType::DISCRETE_GPU => 0,
                vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
                vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
                _ => 3,
            });
            let physical = *all.first().ok_or("no device of Vulkan 1.3")?;
            let both = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(both)).ok_or("no such queue")?;
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family as u32).queue_priorities(&[1.0])];
            let mut features = vk::PhysicalDeviceVulkan13Features::default().dynamic_rendering(true);
            let device = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
            let device = instance.create_device(physical, &device, None).map_err(|e| e.to_string())?;
            let pool = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family as u32)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            Ok(Self {
                queue: device.get_device_queue(family as u32, 0),
                pool: device.create_command_pool(&pool, None).map_err(|e| e.to_string())?,
                memory: instance.get_physical_device_memory_properties(physical),
                device,
                _entry: entry,
                _instance: instance,
            })
        }
    }

    fn allocate(&self, needs: vk::MemoryRequirements, wanted: vk::MemoryPropertyFlags) -> vk::DeviceMemory {
        let fits = |i: &usize| {
            needs.memory_type_bits & (1 << i) != 0 && self.memory.memory_types[*i].property_flags.contains(wanted)
        };
        let index = (0..self.memory.memory_type_count as usize).find(fits).expect("memory of this type");
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index as u32);
        // SAFETY: a size and a type of this device.
        unsafe { self.device.allocate_memory(&info, None).expect("memory") }
    }

    fn buffer(
        &self,
        bytes: u64,
        usage: vk::BufferUsageFlags,
        at: vk::MemoryPropertyFlags,
    ) -> (vk::Buffer, vk::DeviceMemory) {
        // SAFETY: memory that fits what it is bound to.
        unsafe {
            let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
            let buffer = self.device.create_buffer(&info, None).expect("a buffer");
            let memory = self.allocate(self.device.get_buffer_memory_requirements(buffer), at);
            self.device.bind_buffer_memory(buffer, memory, 0).expect("bound");
            (buffer, memory)
        }
    }

    fn image(&self, extent: vk::Extent2D, draws: bool) -> (vk::Image, vk::ImageView) {
        let usage =
            vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let usage = if draws { usage | vk::ImageUsageFlags::COLOR_ATTACHMENT } else { usage };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: as above.
        unsafe {
            let image = self.device.create_image(&info, None).expect("an image");
            let needs = self.device.get_image_memory_requirements(image);
            let memory = self.allocate(needs, vk::MemoryPropertyFlags::DEVICE_LOCAL);
            self.device.bind_image_memory(image, memory, 0).expect("bound");
            let view = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(info.format)
                .subresource_range(whole());
            (image, self.device.create_image_view(&view, None).expect("a view"))
        }
    }

    /// Creates a pipeline of shaders that all have the same bindings.
    fn pipeline(
        &self,
        text: &str,
        stages: &[(vk::ShaderStageFlags, &std::ffi::CStr)],
        bound: &[BoundResource],
    ) -> Pipeline {
        let all = stages.iter().fold(vk::ShaderStageFlags::empty(), |all, (stage, _)| all | *stage);
        let kind = |bound: &BoundResource| match bound {
            BoundResource::Buffer(_) => vk::DescriptorType::STORAGE_BUFFER,
            BoundResource::Image(_) => vk::DescriptorType::STORAGE_IMAGE,
        };
        let bindings: Vec<_> = (0..)
            .zip(bound)
            .map(|(binding, bound)| {
                let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(kind(bound));
                binding.descriptor_count(1).stage_flags(all)
            })
            .collect();
        let sizes: Vec<_> =
            bound.iter().map(|bound| vk::DescriptorPoolSize { ty: kind(bound), descriptor_count: 1 }).collect();
        let code = spirv(text);
        // SAFETY: valid SPIR-V, whose bindings are those of the layout; all objects are of this device.
        unsafe {
            let device = &self.device;
            let layout = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [device.create_descriptor_set_layout(&layout, None).expect("a layout")];
            let pool = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&pool, None).expect("a pool");
            let sets = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&sets).expect("a set")[0];
            for (binding, bound) in (0..).zip(bound) {
                let write =
                    vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(kind(bound));
                match bound {
                    BoundResource::Buffer(buffer) => {
                        let info = [vk::DescriptorBufferInfo { buffer: *buffer, offset: 0, range: vk::WHOLE_SIZE }];
                        device.update_descriptor_sets(&[write.buffer_info(&info)], &[]);
                    }
                    BoundResource::Image(view) => {
                        let info = [vk::DescriptorImageInfo::default().image_view(*view).image_layout(LAYOUT)];
                        device.update_descriptor_sets(&[write.image_info(&info)], &[]);
                    }
                }
            }
            let ranges = [vk::PushConstantRange { stage_flags: all, offset: 0, size: 4 }];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&ranges);
            let layout = device.create_pipeline_layout(&info, None).expect("a layout");
            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None);
            let module = module.expect("a module");
            let stages: Vec<_> = stages
                .iter()
                .map(|(stage, name)| {
                    vk::PipelineShaderStageCreateInfo::default().stage(*stage).module(module).name(name)
                })
                .collect();
            let cache = vk::PipelineCache::null();
            let made = if all == vk::ShaderStageFlags::COMPUTE {
                let info = vk::ComputePipelineCreateInfo::default().stage(stages[0]).layout(layout);
                device.create_compute_pipelines(cache, &[info], None)
            } else {
                let formats = [vk::Format::R8G8B8A8_UNORM];
                let vertices = vk::PipelineVertexInputStateCreateInfo::default();
                let triangles =
                    vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
                let one = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
                let fill = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
                let single = vk::PipelineMultisampleStateCreateInfo::default()
                    .rasterization_samples(vk::SampleCountFlags::TYPE_1);
                let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
                let blend =
                    [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
                let info = vk::GraphicsPipelineCreateInfo::default()
                    .stages(&stages)
                    .vertex_input_state(&vertices)
                    .input_assembly_state(&triangles)
                    .viewport_state(&one)
                    .rasterization_state(&fill)
                    .multisample_state(&single)
                    .layout(layout);
                let colors = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
                let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
                let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
                let info = info.color_blend_state(&colors).dynamic_state(&dynamic).push_next(&mut rendering);
                device.create_graphics_pipelines(cache, &[info], None)
            };
            Pipeline { pipeline: made.map_err(|(_, error)| error).expect("a pipeline")[0], layout, set }
        }
    }
}

pub const LAYOUT: vk::ImageLayout = vk::ImageLayout::GENERAL;

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

pub fn whole() -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    }
}

impl ByHand {
    pub fn new(vulkan: &Arc<Vulkan>, (work, end): (Work, End), width: u32, height: u32) -> Self {
        use vk::ShaderStageFlags as Stage;
        let extent = vk::Extent2D { width, height };
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        let bytes = u64::from(width * height * 4);
        let (buffer, _) = vulkan.buffer(bytes, usage, vk::MemoryPropertyFlags::DEVICE_LOCAL);
        let (image, view) = vulkan.image(extent, end == End::Draw);
        let (text, bound) = match work {
            Work::Straight => (straight("var<immediate>", width, height), BoundResource::Image(view)),
            _ => (kernel("var<immediate>", width, height), BoundResource::Buffer(buffer)),
        };
        let kernel = vulkan.pipeline(&text, &[(Stage::COMPUTE, c"ramp")], &[bound]);
        let manner = if end == End::Draw { work.draws().unwrap_or(Manner::Triangle) } else { Manner::Compute };
        let text = draw(manner, width, height);
        let draw = match manner {
            Manner::Compute => vulkan.pipeline(
                &text,
                &[(Stage::COMPUTE, c"draw")],
                &[BoundResource::Buffer(buffer), BoundResource::Image(view)],
            ),
            Manner::Triangle => {
                let stages = [(Stage::VERTEX, c"cover"), (Stage::FRAGMENT, c"draw")];
                vulkan.pipeline(&text, &stages, &[BoundResource::Buffer(buffer)])
            }
        };
        let slots = (0..SLOTS).map(|_| vulkan.slot()).collect();
        let vulkan = Arc::clone(vulkan);
        let mut row =
            Self { work: Work::Kernel, end, vulkan, slots, next: 0, kernel, draw, buffer, image, view, extent };
        row.submit(|row, commands| {
            let barrier = vk::ImageMemoryBarrier::default()
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(LAYOUT)
                .image(row.image)
                .subresource_range(whole())
                .dst_access_mask(vk::AccessFlags::MEMORY_WRITE);
            let all = vk::PipelineStageFlags::ALL_COMMANDS;
            // SAFETY: commands of this device that are being recorded.
            unsafe {
                let none = vk::DependencyFlags::empty();
                row.vulkan.device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &[barrier]);
            }
        });
        row.frame(12);
        row.work = work;
        row
    }

    /// Records commands into the next slot when it is free, and submits them.
    pub fn submit(&mut self, record: impl FnOnce(&Self, vk::CommandBuffer)) {
        let (commands, fence) = self.slots[self.next];
        self.next = (self.next + 1) % SLOTS;
        let device = &self.vulkan.device;
        // SAFETY: the fence says that the device has done what was recorded before.
        unsafe {
            device.wait_for_fences(&[fence], true, u64::MAX).expect("a fence");
            device.reset_fences(&[fence]).expect("a fence");
            let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(commands, &once).expect("commands");
            record(self, commands);
            device.end_command_buffer(commands).expect("commands");
            let all = [commands];
            let submit = [vk::SubmitInfo::default().command_buffers(&all)];
            device.queue_submit(self.vulkan.queue, &submit, fence).expect("submitted");
        }
    }

    fn dispatch(&self, commands: vk::CommandBuffer, of: Pipeline, n: u32) {
        let device = &self.vulkan.device;
        let (point, stage) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        // SAFETY: commands of this device that are being recorded, and what the pipeline was made for.
        unsafe {
            device.cmd_bind_pipeline(commands, point, of.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, of.layout, 0, &[of.set], &[]);
            device.cmd_push_constants(commands, of.layout, stage, 0, &n.to_ne_bytes());
            device.cmd_dispatch(commands, groups(self.extent.width), groups(self.extent.height), 1);
        }
    }

    fn copy(&self, commands: vk::CommandBuffer) {
        let copy = vk::BufferImageCopy::default().image_subresource(LAYERS).image_extent(self.extent.into());
        // SAFETY: as above; the buffer has every pixel.
        unsafe { self.vulkan.device.cmd_copy_buffer_to_image(commands, self.buffer, self.image, LAYOUT, &[copy]) }
    }

    fn triangle(&self, commands: vk::CommandBuffer) {
        let device = &self.vulkan.device;
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: self.extent };
        let (width, height) = (self.extent.width as f32, self.extent.height as f32);
        let viewport = vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(LAYOUT)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let rendering = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colors);
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: as above.
        unsafe {
            device.cmd_begin_rendering(commands, &rendering);
            device.cmd_bind_pipeline(commands, point, self.draw.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, self.draw.layout, 0, &[self.draw.set], &[]);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
            device.cmd_draw(commands, 3, 1, 0, 0);
            device.cmd_end_rendering(commands);
        }
    }

    /// Makes earlier writes visible to all later commands.
    fn barrier(&self, commands: vk::CommandBuffer) {
        let mut stages = vk::PipelineStageFlags::COMPUTE_SHADER
            | vk::PipelineStageFlags::FRAGMENT_SHADER
            | vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
        let mut written = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
        if self.end == End::Copy {
            (stages, written) = (stages | vk::PipelineStageFlags::TRANSFER, written | vk::AccessFlags::TRANSFER_WRITE);
        }
        let mut all = written | vk::AccessFlags::SHADER_READ | vk::AccessFlags::COLOR_ATTACHMENT_READ;
        if self.end == End::Copy {
            all |= vk::AccessFlags::TRANSFER_READ;
        }
        let barrier = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(all)];
        // SAFETY: as above.
        unsafe {
            let none = vk::DependencyFlags::empty();
            self.vulkan.device.cmd_pipeline_barrier(commands, stages, stages, none, &barrier, &[], &[]);
        }
    }
}

impl Vulkan {
    /// Creates a command buffer, and a fence that is signalled.
    fn slot(&self) -> (vk::CommandBuffer, vk::Fence) {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        let free = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
        // SAFETY: the pool is of this device.
        unsafe {
            let commands = self.device.allocate_command_buffers(&info).expect("commands")[0];
            (commands, self.device.create_fence(&free, None).expect("a fence"))
        }
    }
}

impl Subject for ByHand {
    fn name(&self) -> String {
        match self.end {
            End::Draw => format!("by hand on Vulkan, {}", self.work.name()),
            end => format!("by hand on Vulkan, {}", end.name()),
        }
    }

    fn frame(&mut self, n: u32) {
        self.submit(|row, commands| {
            row.barrier(commands);
            if row.work.computes() {
                row.dispatch(commands, row.kernel, n);
                row.barrier(commands);
            }
            match row.work.draws() {
                None => {}
                _ if row.end == End::Copy => row.copy(commands),
                Some(Manner::Compute) => row.dispatch(commands, row.draw, n),
                Some(Manner::Triangle) => row.triangle(commands),
            }
        });
    }

    fn finish(&mut self) {
        // One queue with barriers: when the last submission is done, all before it are.
        let fences: Vec<_> = self.slots.iter().map(|(_, fence)| *fence).collect();
        // SAFETY: fences of this device, each submitted or signalled.
        unsafe { self.vulkan.device.wait_for_fences(&fences, true, u64::MAX).expect("fences") }
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        if !self.work.shows() {
            return None;
        }
        let bytes = u64::from(self.extent.width * self.extent.height * 4);
        let at = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let (buffer, memory) = self.vulkan.buffer(bytes, vk::BufferUsageFlags::TRANSFER_DST, at);
        self.submit(|row, commands| {
            let copy = vk::BufferImageCopy::default().image_subresource(LAYERS).image_extent(row.extent.into());
            // SAFETY: as above; the buffer has every pixel.
            unsafe { row.vulkan.device.cmd_copy_image_to_buffer(commands, row.image, LAYOUT, buffer, &[copy]) }
        });
        self.finish();
        // SAFETY: memory of so many bytes that the host sees and the device has written; both go after the copy.
        unsafe {
            let device = &self.vulkan.device;
            let start = device.map_memory(memory, 0, bytes, vk::MemoryMapFlags::empty()).expect("mapped");
            let pixels = std::slice::from_raw_parts(start.cast::<u8>(), bytes as usize).to_vec();
            device.destroy_buffer(buffer, None);
            device.free_memory(memory, None);
            Some(pixels)
        }
    }
}
