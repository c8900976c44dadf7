//! The engine's own pipelines. Nothing here depends on pixelferry.

use crate::engine::SEA_SIDE;
use pixelferry::api::wgpu::wgpu;

/// The format of the depth buffer.
pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// The number of samples of a pixel.
pub const SAMPLES: u32 = 4;

/// The layout of a view, a picture and a sampler.
pub fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty,
        count: None,
    };
    let view = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let picture = wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension: wgpu::TextureViewDimension::D2,
        multisampled: false,
    };
    let sampler = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
    let entries = &[entry(0, view), entry(1, picture), entry(2, sampler)];
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
}

/// Creates the pipelines of sky, sea, planet and radar.
pub fn pipelines(
    device: &wgpu::Device,
    bindings: &wgpu::BindGroupLayout,
    format: wgpu::TextureFormat,
) -> [wgpu::RenderPipeline; 4] {
    let text = include_str!("scene.wgsl").replace("SIDE", &SEA_SIDE.to_string());
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let bind_group_layouts = &[Some(bindings)];
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts,
        immediate_size: 0,
    });
    let waves = [Some(wgpu::VertexBufferLayout {
        array_stride: 16,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32x4],
    })];
    ["sky", "sea", "planet", "radar"].map(|part| {
        let strip = matches!(part, "sky" | "radar");
        let topology =
            if strip { wgpu::PrimitiveTopology::TriangleStrip } else { wgpu::PrimitiveTopology::TriangleList };
        let target = wgpu::ColorTargetState {
            format,
            blend: (part == "radar").then_some(wgpu::BlendState::ALPHA_BLENDING),
            write_mask: wgpu::ColorWrites::ALL,
        };
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(part),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(&format!("{part}_vertex")),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: if part == "sea" { &waves } else { &[] },
            },
            primitive: wgpu::PrimitiveState {
                topology,
                cull_mode: Some(wgpu::Face::Back),
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..wgpu::MultisampleState::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(&format!("{part}_fragment")),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        })
    })
}

/// Begins a pass into all samples, which are resolved to the pixels of `view`.
pub fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    [colour, depth]: &[wgpu::TextureView; 2],
    view: &wgpu::TextureView,
) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: colour,
            depth_slice: None,
            resolve_target: Some(view),
            ops: wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Discard },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: depth,
            depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Discard }),
            stencil_ops: None,
        }),
        ..wgpu::RenderPassDescriptor::default()
    })
}
