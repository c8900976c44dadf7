//! Pipelines that draw images, and an offscreen target.

use crate::context::device_state::DeviceState;
use crate::context::format::{TEXTURE_USAGE, bits, texture_descriptor, texture_format, whole_words};
use crate::draw::picture::Picture;
use crate::draw::steps::{Layouts, PLACES, steps};
use interop_core::describe::PlainMutex;
use interop_core::draw::Plan;
use interop_core::draw::wgsl::{self, DrawParams, Steps};
use interop_core::{Extent, PixelFormat, Region, Result};

/// Format of a render pass's target, for which pipelines are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrawTarget {
    /// Format of the attached view of the colour attachment. A format with sRGB encoding encodes the drawn colours:
    /// [`interop_core::DrawOptions::target`] is then always treated as [`interop_core::TargetEncoding::SrgbFormat`].
    pub format: wgpu::TextureFormat,
    /// Number of samples of each pixel.
    pub samples: u32,
    /// Format of the depth-stencil attachment, if there is one. It is neither tested nor written.
    pub depth_stencil: Option<wgpu::TextureFormat>,
}

impl DrawTarget {
    /// Returns a target with one sample and without depth.
    pub const fn new(format: wgpu::TextureFormat) -> Self {
        Self { format, samples: 1, depth_stencil: None }
    }
}

interop_core::setters!(DrawTarget {
    /// Sets the number of samples of each pixel.
    with_samples(samples: u32);
    /// Sets the format of the depth-stencil attachment; `None` means no attachment.
    with_depth_stencil(depth_stencil: impl Into<Option<wgpu::TextureFormat>>);
});

/// All properties that distinguish pipelines.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PipelineKey {
    steps: Steps,
    blends: bool,
    /// True where the bits of the numbers go to an integer target.
    bits: bool,
    target: DrawTarget,
}

/// Pipelines, created at first use.
pub(crate) struct Painter {
    pub layouts: Layouts,
    /// Shader modules for each kind of source, with and without colour processing.
    modules: PlainMutex<Vec<((bool, bool), wgpu::ShaderModule)>>,
    pipelines: PlainMutex<Vec<(PipelineKey, wgpu::RenderPipeline)>>,
    offscreen: PlainMutex<Option<(wgpu::Texture, wgpu::TextureView)>>,
    scratch: PlainMutex<Option<wgpu::Buffer>>,
}

impl Painter {
    /// Creates the painter, inside error scopes.
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        Self {
            layouts: Layouts::new(device),
            modules: PlainMutex::default(),
            pipelines: PlainMutex::default(),
            offscreen: PlainMutex::default(),
            scratch: PlainMutex::default(),
        }
    }

    /// Creates the pipeline that shows RGBA8 in linear memory, inside error scopes: a device may report storage buffers
    /// and then reject the shader that reads one.
    pub(crate) fn prove_memory(&self, device: &wgpu::Device) {
        let target = DrawTarget::new(wgpu::TextureFormat::Rgba8Unorm);
        let steps = Steps { memory: Some(PixelFormat::Rgba8), one_to_one: true, bars: false, colors: None };
        self.pipeline(device, PipelineKey { steps, blends: false, bits: false, target });
    }

    fn module(&self, device: &wgpu::Device, steps: Steps) -> wgpu::ShaderModule {
        let of = (steps.memory.is_some(), steps.colors.is_some());
        let mut made = self.modules.lock();
        if let Some((_, module)) = made.iter().find(|(other, _)| *other == of) {
            return module.clone();
        }
        let text = wgsl::shown(&PLACES, steps) + include_str!("shaders/triangle.wgsl");
        let module = crate::draw::shader::trusted(device, text);
        made.push((of, module.clone()));
        module
    }

    fn pipeline(&self, device: &wgpu::Device, kind: PipelineKey) -> wgpu::RenderPipeline {
        let mut made = self.pipelines.lock();
        if let Some((_, pipeline)) = made.iter().find(|(other, _)| *other == kind) {
            return pipeline.clone();
        }
        let pipeline = build(device, self.layouts.get(kind.steps), &self.module(device, kind.steps), kind);
        made.push((kind, pipeline.clone()));
        pipeline
    }

    /// Draws a region of the image into a pass, by its plan.
    pub(crate) fn paint(
        &self,
        shared: &DeviceState,
        pass: &mut wgpu::RenderPass<'_>,
        picture: &Picture,
        target: DrawTarget,
        frame: Frame,
    ) {
        let steps = steps(&frame.plan, picture);
        let kind = PipelineKey { steps, blends: frame.plan.blends, bits: frame.bits, target };
        let pipeline = self.pipeline(&shared.device, kind);
        let draw_params = frame.draw_params();
        let bindings = picture.bindings(shared, self.layouts.get(steps), draw_params);
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        let [left, top, width, height] = draw_params.area().map(|v| v as f32);
        pass.set_viewport(left, top, width, height, 0.0, 1.0);
        pass.draw(0..3, 0..1);
    }

    /// Draws `region` at its own size into a texture of the image's format, or of a format with the same bits, in
    /// `encoder`. Returns the texture.
    fn paint_offscreen(
        &self,
        shared: &DeviceState,
        encoder: &mut wgpu::CommandEncoder,
        picture: &Picture,
        region: Region,
        format: wgpu::TextureFormat,
    ) -> wgpu::Texture {
        let (bits, format) = self.offscreen_format(shared, format);
        let (texture, view) = self.offscreen(shared, region.extent(), format);
        // The draw covers the whole target.
        let mut pass = begin_pass(encoder, &view, None);
        let frame = Frame { region, at: (0, 0), plan: Plan::exact(region.extent()), bits };
        self.paint(shared, &mut pass, picture, DrawTarget::new(format), frame);
        texture
    }

    /// Returns the format of an offscreen target for numbers of this format, and whether it holds their bits.
    pub(crate) fn offscreen_format(
        &self,
        shared: &DeviceState,
        format: wgpu::TextureFormat,
    ) -> (bool, wgpu::TextureFormat) {
        match bits(format) {
            Some(integers) if !shared.is_drawn_to(format) => (true, integers),
            _ => (false, format),
        }
    }

    /// Returns a target of this size; the last one if it fits.
    pub(crate) fn offscreen(
        &self,
        shared: &DeviceState,
        extent: Extent,
        format: wgpu::TextureFormat,
    ) -> (wgpu::Texture, wgpu::TextureView) {
        let mut kept = self.offscreen.lock();
        let fits = |t: &wgpu::Texture| t.format() == format && (t.width(), t.height()) == (extent.width, extent.height);
        if let Some((texture, view)) = kept.as_ref().filter(|(texture, _)| fits(texture)) {
            return (texture.clone(), view.clone());
        }
        let descriptor =
            texture_descriptor(extent.width, extent.height, format, TEXTURE_USAGE | shared.stores.usage(format));
        let texture = shared.device.create_texture(&descriptor);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        kept.insert((texture, view)).clone()
    }

    /// Copies whole words of a buffer into an offscreen buffer.
    pub(crate) fn copy_offscreen(
        &self,
        shared: &DeviceState,
        buffer: &wgpu::Buffer,
        start: u64,
        bytes: u64,
    ) -> Result<()> {
        let record = |encoder: &mut wgpu::CommandEncoder| {
            let mut kept = self.scratch.lock();
            let descriptor = wgpu::BufferDescriptor {
                label: Some("pixelferry scratch"),
                size: whole_words(bytes),
                usage: wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            };
            let scratch = match kept.take().filter(|scratch| scratch.size() >= descriptor.size) {
                Some(scratch) => scratch,
                None => shared.device.create_buffer(&descriptor),
            };
            encoder.copy_buffer_to_buffer(buffer, start, kept.insert(scratch), 0, descriptor.size);
        };
        shared.submit(record).map(drop)
    }

    /// Returns a part as a viewer would see it: drawn, and read back in tight rows.
    pub(crate) fn read_back(&self, shared: &DeviceState, picture: &Picture, region: Region) -> Result<Vec<u8>> {
        let format = texture_format(picture.format());
        let bpp = picture.format().bytes_per_pixel();
        crate::context::read_back::image(shared, region.extent().full(), bpp, |encoder| {
            self.paint_offscreen(shared, encoder, picture, region, format)
        })
    }
}

/// A draw and its place in the target.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// Region of the image.
    pub region: Region,
    /// Left and top of the plan's viewport in the target.
    pub at: (i32, i32),
    pub plan: Plan,
    /// True where the target holds integers, which receive the bits of the numbers.
    pub bits: bool,
}

impl Frame {
    /// Returns the parameters of the shaders.
    pub(crate) fn draw_params(&self) -> DrawParams {
        DrawParams::new(&self.plan, self.region, self.at)
    }
}

/// Begins a pass with one colour attachment, which is cleared or keeps its content.
pub(crate) fn begin_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    view: &wgpu::TextureView,
    clear: Option<wgpu::Color>,
) -> wgpu::RenderPass<'a> {
    let load = clear.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("pixelferry"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        ..wgpu::RenderPassDescriptor::default()
    })
}

fn build(
    device: &wgpu::Device,
    bindings: &wgpu::BindGroupLayout,
    module: &wgpu::ShaderModule,
    kind: PipelineKey,
) -> wgpu::RenderPipeline {
    let constants = kind.steps.constants();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("pixelferry image"),
        bind_group_layouts: &[Some(bindings)],
        immediate_size: 0,
    });
    let depth_stencil = kind.target.depth_stencil.map(|format| wgpu::DepthStencilState {
        format,
        depth_write_enabled: Some(false),
        depth_compare: Some(wgpu::CompareFunction::Always),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("pixelferry image"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("cover"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil,
        multisample: wgpu::MultisampleState { count: kind.target.samples, ..wgpu::MultisampleState::default() },
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(if kind.bits { "show_bits" } else { "show" }),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &constants,
                ..wgpu::PipelineCompilationOptions::default()
            },
            targets: &[Some(wgpu::ColorTargetState {
                // Blends premultiplied colours.
                blend: kind.blends.then_some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                ..kind.target.format.into()
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
