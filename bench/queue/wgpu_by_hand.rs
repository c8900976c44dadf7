//! The bench's frame, written by hand on wgpu: everything is made once, each frame is one submission.

use crate::shaders::{draw, groups, kernel};
use crate::{Subject, Work};
use pixelferry::Manner;
use pixelferry::wgpu_display::{WgpuDevice, WgpuOptions, wgpu};

/// One row.
struct ByHand {
    work: Work,
    device: WgpuDevice,
    numbers: wgpu::Buffer,
    kernel: (wgpu::ComputePipeline, wgpu::BindGroup),
    draw: Draw,
    target: wgpu::Texture,
}

enum Draw {
    Triangle(wgpu::RenderPipeline, wgpu::BindGroup, wgpu::TextureView),
    Compute(wgpu::ComputePipeline, wgpu::BindGroup),
}

/// Every row of this size.
pub fn subjects(width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    match WgpuDevice::open(&WgpuOptions::default()) {
        Ok(device) => Work::ALL.into_iter().map(|work| Box::new(row(&device, work, width, height)) as _).collect(),
        Err(error) => {
            println!("SKIPPED wgpu by hand: {error}");
            Vec::new()
        }
    }
}

fn row(device: &WgpuDevice, work: Work, width: u32, height: u32) -> ByHand {
    use wgpu::BufferUsages as Usage;
    let gpu = &device.device;
    let buffer = |size, usage| {
        gpu.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let memory = buffer(u64::from(width * height * 4), Usage::STORAGE);
    let numbers = buffer(16, Usage::UNIFORM | Usage::COPY_DST);
    let target = gpu.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::STORAGE_BINDING
            | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let view = target.create_view(&wgpu::TextureViewDescriptor::default());
    let module = |text: String| {
        gpu.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        })
    };
    let compute = |text: String, name: &str| {
        gpu.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module(text),
            entry_point: Some(name),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    };
    let group = |layout: &wgpu::BindGroupLayout, resources: [Option<wgpu::BindingResource<'_>>; 2]| {
        let entries: Vec<_> = (0..)
            .zip(resources)
            .filter_map(|(binding, resource)| Some(wgpu::BindGroupEntry { binding, resource: resource? }))
            .collect();
        gpu.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries })
    };
    let pipeline = compute(kernel("@group(0) @binding(1) var<uniform>", width, height), "ramp");
    let bound = [Some(memory.as_entire_binding()), Some(numbers.as_entire_binding())];
    let bound = group(&pipeline.get_bind_group_layout(0), bound);
    let manner = work.draws().unwrap_or(Manner::Triangle);
    let text = draw(manner, width, height);
    let draw = match manner {
        Manner::Compute => {
            let pipeline = compute(text, "draw");
            let canvas = wgpu::BindingResource::TextureView(&view);
            let bound = group(&pipeline.get_bind_group_layout(0), [Some(memory.as_entire_binding()), Some(canvas)]);
            Draw::Compute(pipeline, bound)
        }
        Manner::Triangle => {
            let module = module(text);
            let options = wgpu::PipelineCompilationOptions::default;
            let pipeline = gpu.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: None,
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("cover"),
                    compilation_options: options(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("draw"),
                    compilation_options: options(),
                    targets: &[Some(target.format().into())],
                }),
                multiview_mask: None,
                cache: None,
            });
            let bound = group(&pipeline.get_bind_group_layout(0), [Some(memory.as_entire_binding()), None]);
            Draw::Triangle(pipeline, bound, view)
        }
    };
    let mut row =
        ByHand { work: Work::Kernel, device: device.clone(), numbers, kernel: (pipeline, bound), draw, target };
    row.frame(12);
    ByHand { work, ..row }
}

impl ByHand {
    fn groups(&self) -> (u32, u32) {
        (groups(self.target.width()), groups(self.target.height()))
    }
}

impl Subject for ByHand {
    fn name(&self) -> String {
        format!("by hand on wgpu, {}", self.work.name())
    }

    fn frame(&mut self, n: u32) {
        let WgpuDevice { device, queue, .. } = &self.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let (across, down) = self.groups();
        let dispatch = |encoder: &mut wgpu::CommandEncoder,
                        (pipeline, bound): (&wgpu::ComputePipeline, &wgpu::BindGroup)| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, bound, &[]);
            pass.dispatch_workgroups(across, down, 1);
        };
        if self.work.computes() {
            queue.write_buffer(&self.numbers, 0, &n.to_ne_bytes());
            dispatch(&mut encoder, (&self.kernel.0, &self.kernel.1));
        }
        match (&self.draw, self.work.draws()) {
            (_, None) => {}
            (Draw::Compute(pipeline, bound), _) => dispatch(&mut encoder, (pipeline, bound)),
            (Draw::Triangle(pipeline, bound, view), _) => {
                let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view,
                        depth_slice: None,
                        resolve_target: None,
                        ops: wgpu::Operations { load: wgpu::LoadOp::Load, store: wgpu::StoreOp::Store },
                    })],
                    ..wgpu::RenderPassDescriptor::default()
                });
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, bound, &[]);
                pass.draw(0..3, 0..1);
            }
        }
        queue.submit([encoder.finish()]);
    }

    fn finish(&mut self) {
        self.device.wait("finish", None).expect("the device finishes");
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        self.work.draws()?;
        let (width, height) = (self.target.width(), self.target.height());
        let pitch = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = self.device.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: u64::from(pitch * height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let copy = |encoder: &mut wgpu::CommandEncoder| {
            let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
            let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
            encoder.copy_texture_to_buffer(self.target.as_image_copy(), to, self.target.size());
        };
        self.device.submit("pixels", copy).expect("a copy");
        let bytes = self.device.read_buffer(&buffer, 0..buffer.size(), "pixels").expect("pixels");
        Some(bytes.chunks(pitch as usize).flat_map(|row| &row[..width as usize * 4]).copied().collect())
    }
}
