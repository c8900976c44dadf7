//! The engine's pipelines and submissions. Nothing here depends on pixelferry.

use crate::engine::output::complain;
use crate::engine::{Failure, SEA_INDICES, SEA_SIDE, View, sea_indices};
use crate::gpu::{Attachment, Gpu, MappedBuffer, range, view, vk};
use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};

const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
const PARTS: [&str; 4] = ["sky", "sea", "planet", "radar"];

/// The inputs of a frame.
pub struct Inputs {
    /// The image with its format and its current layout.
    pub planet: (vk::Image, vk::Format, vk::ImageLayout),
    /// The buffer with the offset of the first vertex.
    pub sea: (vk::Buffer, u64),
    pub radar: (vk::Image, vk::Format, vk::ImageLayout),
    /// The timeline semaphore, and the value at which all three are ready.
    pub ready: Option<(vk::Semaphore, u64)>,
}

/// Draws one frame at a time.
pub struct Renderer {
    gpu: Arc<Gpu>,
    lock: Arc<Mutex<()>>,
    layout: vk::PipelineLayout,
    set_layout: vk::DescriptorSetLayout,
    sampler: vk::Sampler,
    pipelines: Vec<vk::Pipeline>,
    set_pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    /// Views of the inputs that the GPU may still be reading.
    views: Vec<vk::ImageView>,
    uniforms: MappedBuffer,
    indices: MappedBuffer,
    target: [Attachment; 2],
    picture: MappedBuffer,
}

fn spirv() -> Result<Vec<u32>, Failure> {
    let text = include_str!("../engine_wgpu/scene.wgsl").replace("SIDE", &SEA_SIDE.to_string());
    let module = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module)?;
    Ok(spv::write_vec(&module, &info, &spv::Options::default(), None)?)
}

fn attachments(gpu: &Arc<Gpu>, size: (u32, u32)) -> Result<([Attachment; 2], MappedBuffer), Failure> {
    use vk::ImageUsageFlags as Usage;
    let usage = Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC;
    let colour = Attachment::new(gpu, size, COLOUR, usage, vk::ImageAspectFlags::COLOR)?;
    let depth = Attachment::new(gpu, size, DEPTH, Usage::DEPTH_STENCIL_ATTACHMENT, vk::ImageAspectFlags::DEPTH)?;
    let bytes = size.0 as usize * size.1 as usize * 4;
    Ok(([colour, depth], MappedBuffer::new(gpu, bytes, vk::BufferUsageFlags::TRANSFER_DST)?))
}

impl Renderer {
    pub fn new(gpu: Arc<Gpu>, lock: Arc<Mutex<()>>, size: (u32, u32)) -> Result<Self, Failure> {
        use vk::BufferUsageFlags as Usage;
        use vk::DescriptorType as Kind;
        let uniforms = MappedBuffer::new(&gpu, size_of::<View>(), Usage::UNIFORM_BUFFER)?;
        let mut indices = MappedBuffer::new(&gpu, 4 * SEA_INDICES as usize, Usage::INDEX_BUFFER)?;
        indices.write(bytemuck::cast_slice(&sea_indices()));
        let (target, picture) = attachments(&gpu, size)?;
        let device = &gpu.device;
        let kinds = [Kind::UNIFORM_BUFFER, Kind::SAMPLED_IMAGE, Kind::SAMPLER];
        // SAFETY: all is of this device; the structures live through the calls.
        unsafe {
            let bindings = [0, 1, 2].map(|binding: u32| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(kinds[binding as usize])
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT)
            });
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            let layouts = [set_layout; 2];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts[..1]);
            let layout = device.create_pipeline_layout(&info, None)?;
            let sizes = kinds.map(|kind| vk::DescriptorPoolSize { ty: kind, descriptor_count: 2 });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
            let set_pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(set_pool).set_layouts(&layouts);
            let sets = device.allocate_descriptor_sets(&info)?;
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(vk::Filter::LINEAR)
                .address_mode_u(vk::SamplerAddressMode::REPEAT)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
            let sampler = device.create_sampler(&info, None)?;
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.family).flags(flags);
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            let signalled = vk::FenceCreateInfo::default().flags(vk::FenceCreateFlags::SIGNALED);
            let fence = device.create_fence(&signalled, None)?;
            let code = spirv()?;
            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)?;
            let made = PARTS.map(|part| pipeline(&gpu, layout, module, part));
            device.destroy_shader_module(module, None);
            let pipelines = made.into_iter().collect::<Result<_, _>>()?;
            let views = Vec::new();
            #[rustfmt::skip]
            let renderer = Self { lock, layout, set_layout, sampler, pipelines, set_pool, sets, pool, commands, fence, views, uniforms, indices, target, picture, gpu };
            Ok(renderer)
        }
    }

    pub fn size(&self) -> (u32, u32) {
        self.target[0].size
    }

    /// Waits for the last frame: until then the GPU may be reading its inputs.
    fn wait(&mut self) -> Result<(), Failure> {
        // SAFETY: the fence is of this device and was submitted or is signalled.
        unsafe { self.gpu.device.wait_for_fences(&[self.fence], true, u64::MAX) }?;
        for view in self.views.drain(..) {
            // SAFETY: nothing reads it any more.
            unsafe { self.gpu.device.destroy_image_view(view, None) };
        }
        Ok(())
    }

    /// Draws a frame and submits it.
    pub fn draw(&mut self, size: (u32, u32), seen: &View, inputs: &Inputs) -> Result<(), Failure> {
        self.wait()?;
        if size != self.size() {
            (self.target, self.picture) = attachments(&self.gpu, size)?;
        }
        self.uniforms.write(bytemuck::bytes_of(seen));
        self.bind([inputs.planet, inputs.radar])?;
        let device = &self.gpu.device;
        // SAFETY: the GPU is done with all of them; the inputs live until the next frame of their links.
        unsafe {
            device.begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default())?;
            self.record(inputs.sea);
            device.end_command_buffer(self.commands)?;
            let (waited, values): (Vec<_>, Vec<_>) = inputs.ready.into_iter().unzip();
            let stages = vec![vk::PipelineStageFlags::ALL_GRAPHICS; waited.len()];
            let mut counters = vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(&values);
            let commands = [self.commands];
            let submit = vk::SubmitInfo::default()
                .command_buffers(&commands)
                .wait_semaphores(&waited)
                .wait_dst_stage_mask(&stages)
                .push_next(&mut counters);
            device.reset_fences(&[self.fence])?;
            let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(device.queue_submit(self.gpu.queue, &[submit], self.fence)?)
        }
    }

    /// Binds a descriptor set for each picture.
    fn bind(&mut self, pictures: [(vk::Image, vk::Format, vk::ImageLayout); 2]) -> Result<(), Failure> {
        for (set, (image, format, layout)) in self.sets.iter().zip(pictures) {
            // SAFETY: the image lives until the frame is drawn. No submission uses the set now.
            unsafe {
                let shown = view(&self.gpu.device, image, format, vk::ImageAspectFlags::COLOR)?;
                self.views.push(shown);
                let buffer =
                    [vk::DescriptorBufferInfo { buffer: self.uniforms.buffer, offset: 0, range: vk::WHOLE_SIZE }];
                let image = [vk::DescriptorImageInfo::default().image_view(shown).image_layout(layout)];
                let sampler = [vk::DescriptorImageInfo::default().sampler(self.sampler)];
                let write = |binding, kind| {
                    vk::WriteDescriptorSet::default().dst_set(*set).dst_binding(binding).descriptor_type(kind)
                };
                let writes = [
                    write(0, vk::DescriptorType::UNIFORM_BUFFER).buffer_info(&buffer),
                    write(1, vk::DescriptorType::SAMPLED_IMAGE).image_info(&image),
                    write(2, vk::DescriptorType::SAMPLER).image_info(&sampler),
                ];
                self.gpu.device.update_descriptor_sets(&writes, &[]);
            }
        }
        Ok(())
    }

    /// # Safety
    /// Commands are being recorded, and the sea's vertices live until the commands have finished.
    unsafe fn record(&self, (sea, offset): (vk::Buffer, u64)) {
        use vk::ImageLayout as Layout;
        let (device, commands, [colour, depth]) = (&self.gpu.device, self.commands, &self.target);
        let extent = vk::Extent2D { width: colour.size.0, height: colour.size.1 };
        let whole = vk::Rect2D { offset: vk::Offset2D::default(), extent };
        let black = vk::ClearValue::default();
        let far = vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 } };
        let attachment = |view, layout, clear_value| {
            vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(layout)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(clear_value)
        };
        let colours = [attachment(colour.view, Layout::COLOR_ATTACHMENT_OPTIMAL, black)];
        let depths = attachment(depth.view, Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL, far);
        let rendering = vk::RenderingInfo::default()
            .render_area(whole)
            .layer_count(1)
            .color_attachments(&colours)
            .depth_attachment(&depths);
        let viewport = vk::Viewport {
            width: extent.width as f32,
            height: extent.height as f32,
            max_depth: 1.0,
            ..vk::Viewport::default()
        };
        let change = |image, aspect, from, to| {
            let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
            let barrier = vk::ImageMemoryBarrier::default()
                .image(image)
                .old_layout(from)
                .new_layout(to)
                .src_access_mask(all)
                .dst_access_mask(all)
                .subresource_range(range(aspect));
            let stage = vk::PipelineStageFlags::ALL_COMMANDS;
            // SAFETY: the caller's promise.
            unsafe {
                device.cmd_pipeline_barrier(commands, stage, stage, vk::DependencyFlags::empty(), &[], &[], &[barrier]);
            }
        };
        let (of_colour, of_depth) = (vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH);
        change(colour.image, of_colour, Layout::UNDEFINED, Layout::COLOR_ATTACHMENT_OPTIMAL);
        change(depth.image, of_depth, Layout::UNDEFINED, Layout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL);
        let bind = |part: usize, set: usize| {
            let (point, sets) = (vk::PipelineBindPoint::GRAPHICS, [self.sets[set]]);
            // SAFETY: the caller's promise.
            unsafe {
                device.cmd_bind_pipeline(commands, point, self.pipelines[part]);
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &sets, &[]);
            }
        };
        // SAFETY: as above.
        unsafe {
            device.cmd_begin_rendering(commands, &rendering);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[whole]);
            bind(0, 0);
            device.cmd_draw(commands, 4, 1, 0, 0);
            bind(2, 0);
            device.cmd_draw(commands, 64 * 32 * 6, 1, 0, 0);
            bind(1, 0);
            device.cmd_bind_vertex_buffers(commands, 0, &[sea], &[offset]);
            device.cmd_bind_index_buffer(commands, self.indices.buffer, 0, vk::IndexType::UINT32);
            device.cmd_draw_indexed(commands, SEA_INDICES as u32, 1, 0, 0, 0);
            bind(3, 1);
            device.cmd_draw(commands, 4, 1, 0, 0);
            device.cmd_end_rendering(commands);
        }
        change(colour.image, of_colour, Layout::COLOR_ATTACHMENT_OPTIMAL, Layout::TRANSFER_SRC_OPTIMAL);
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(of_colour).layer_count(1);
        let copy = vk::BufferImageCopy::default().image_subresource(layers).image_extent(extent.into());
        let seen = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        // SAFETY: as above; the buffer holds the picture.
        unsafe {
            let (from, to) = (colour.image, self.picture.buffer);
            device.cmd_copy_image_to_buffer(commands, from, Layout::TRANSFER_SRC_OPTIMAL, to, &[copy]);
            let (done, host) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::HOST);
            device.cmd_pipeline_barrier(commands, done, host, vk::DependencyFlags::empty(), &[seen], &[], &[]);
        }
    }

    /// Returns the last frame as RGBA8.
    pub fn picture(&mut self) -> Result<Vec<u8>, Failure> {
        self.wait()?;
        Ok(self.picture.read())
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        if let Err(error) = self.wait() {
            complain!("cannot wait for the device: {error}");
        }
        let device = &self.gpu.device;
        // SAFETY: the GPU has done with them.
        unsafe {
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
            self.pipelines.iter().for_each(|pipeline| device.destroy_pipeline(*pipeline, None));
            device.destroy_sampler(self.sampler, None);
            device.destroy_descriptor_pool(self.set_pool, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// Creates the pipeline of the sky, the sea, the planet or the radar.
///
/// # Safety
/// The layout and the module belong to this device and to the scene.
unsafe fn pipeline(
    gpu: &Gpu,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
    part: &str,
) -> Result<vk::Pipeline, Failure> {
    let names = [CString::new(format!("{part}_vertex"))?, CString::new(format!("{part}_fragment"))?];
    let stages = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
    let stages = [0, 1]
        .map(|i: usize| vk::PipelineShaderStageCreateInfo::default().stage(stages[i]).module(module).name(&names[i]));
    let waves = [vk::VertexInputBindingDescription { binding: 0, stride: 16, ..Default::default() }];
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let places = [vk::VertexInputAttributeDescription { format, ..Default::default() }];
    let vertices = match part {
        "sea" => vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&waves)
            .vertex_attribute_descriptions(&places),
        _ => vk::PipelineVertexInputStateCreateInfo::default(),
    };
    let topology = match part {
        "sky" | "radar" => vk::PrimitiveTopology::TRIANGLE_STRIP,
        _ => vk::PrimitiveTopology::TRIANGLE_LIST,
    };
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(topology);
    let viewports = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .cull_mode(vk::CullModeFlags::BACK)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let blend = [vk::PipelineColorBlendAttachmentState::default()
        .blend_enable(part == "radar")
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::ONE)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blends = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blend);
    let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let mut rendering =
        vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&[COLOUR]).depth_attachment_format(DEPTH);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertices)
        .input_assembly_state(&assembly)
        .viewport_state(&viewports)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blends)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering);
    // SAFETY: the caller's promise; the structures live through the call.
    let made = unsafe { gpu.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    let made = made.map_err(|(_, code)| code)?;
    made.first().copied().ok_or_else(|| "the driver created no pipeline".into())
}
