//! The bench's frame written by hand on wgpu, together with the cost of an empty submission.

use crate::shaders::{draw, groups, kernel, straight};
use crate::{Subject, Work};
use pixelferry::Manner;
use pixelferry::api::wgpu::{WgpuDisplay, wgpu};
use std::sync::Arc;

/// The source of the frame's number in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    /// A buffer that is written through the queue.
    Uniform,
    /// Immediates in the commands themselves.
    Immediate,
}

/// One row. The display provides the device and draws nothing. It is the device of pixelferry's rows, because drivers
/// are slower on one device than on another of the same process.
struct ByHand {
    /// The work; `None` records nothing.
    work: Option<(Work, Number)>,
    display: Arc<WgpuDisplay>,
    numbers: wgpu::Buffer,
    kernel: (wgpu::ComputePipeline, wgpu::BindGroup),
    draw: (wgpu::ComputePipeline, wgpu::BindGroup),
    texture: wgpu::Texture,
}

/// Returns every row of this size.
pub fn subjects(display: &Arc<WgpuDisplay>, width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    let immediates = display.wgpu_device().features().contains(wgpu::Features::IMMEDIATES);
    let numbers = if immediates { &[Number::Uniform, Number::Immediate][..] } else { &[Number::Uniform] };
    let works = [Work::Straight, Work::Both(Manner::Compute), Work::Kernel];
    let rows = works.iter().flat_map(|work| numbers.iter().map(|number| Some((*work, *number)))).chain([None]);
    rows.map(|work| Box::new(ByHand::new(display, work, width, height)) as _).collect()
}

impl ByHand {
    fn new(display: &Arc<WgpuDisplay>, work: Option<(Work, Number)>, width: u32, height: u32) -> Self {
        let device = display.wgpu_device();
        let buffer = |size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let uses = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let numbers = buffer(16, uses);
        let memory = buffer(u64::from(width * height * 4), wgpu::BufferUsages::STORAGE);
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let number = match work {
            Some((_, Number::Immediate)) => "var<immediate>",
            _ => "@group(0) @binding(1) var<uniform>",
        };
        let goes_straight = matches!(work, Some((Work::Straight, _)));
        let text = if goes_straight { straight(number, width, height) } else { kernel(number, width, height) };
        let pipeline = |text: &str, entry, bound: &[wgpu::BindingResource<'_>]| {
            let source = wgpu::ShaderSource::Wgsl(text.into());
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            let made = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            });
            let entries: Vec<_> = (0..)
                .zip(bound)
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
                .collect();
            let layout = made.get_bind_group_layout(0);
            let group = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
            let group = device.create_bind_group(&group);
            (made, group)
        };
        let canvas = || wgpu::BindingResource::TextureView(&view);
        let mut bound = vec![if goes_straight { canvas() } else { memory.as_entire_binding() }];
        if matches!(work, None | Some((_, Number::Uniform))) {
            bound.push(numbers.as_entire_binding());
        }
        let kernel = pipeline(&text, "ramp", &bound);
        let text = draw(Manner::Compute, width, height);
        let draw = pipeline(&text, "draw", &[memory.as_entire_binding(), canvas()]);
        Self { work, display: Arc::clone(display), numbers, kernel, draw, texture }
    }
}

impl Subject for ByHand {
    fn name(&self) -> String {
        match self.work {
            None => "floor: an empty submission on wgpu".into(),
            Some((work, Number::Uniform)) => format!("by hand on wgpu, {}", work.name()),
            Some((work, Number::Immediate)) => format!("by hand on wgpu, immediates, {}", work.name()),
        }
    }

    fn frame(&mut self, n: u32) {
        let (device, queue) = (self.display.wgpu_device(), self.display.wgpu_queue());
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        if let Some((work, number)) = self.work {
            if number == Number::Uniform {
                queue.write_buffer(&self.numbers, 0, &[n, 0, 0, 0].map(u32::to_ne_bytes).concat());
            }
            let (across, down) = (groups(self.texture.width()), groups(self.texture.height()));
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            let mut run = |(pipeline, group): &(wgpu::ComputePipeline, wgpu::BindGroup), n: Option<u32>| {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                if let Some(n) = n {
                    pass.set_immediates(0, &n.to_ne_bytes());
                }
                pass.dispatch_workgroups(across, down, 1);
            };
            run(&self.kernel, (number == Number::Immediate).then_some(n));
            if work.draws().is_some() {
                run(&self.draw, None);
            }
        }
        queue.submit([encoder.finish()]);
    }

    fn finish(&mut self) {
        let poll = wgpu::PollType::Wait { submission_index: None, timeout: None };
        self.display.wgpu_device().poll(poll).expect("the device finishes");
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        if !self.work.is_some_and(|(work, _)| work.shows()) {
            return None;
        }
        let (device, (width, height)) = (self.display.wgpu_device(), (self.texture.width(), self.texture.height()));
        let row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let size = u64::from(row * height);
        let buffer =
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(self.texture.as_image_copy(), to, self.texture.size());
        self.display.wgpu_queue().submit([encoder.finish()]);
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("mapped"));
        self.finish();
        let mapped = buffer.get_mapped_range(..).expect("mapped");
        let rows = mapped.chunks_exact(row as usize).flat_map(|row| row[..width as usize * 4].to_vec());
        Some(rows.collect())
    }
}
