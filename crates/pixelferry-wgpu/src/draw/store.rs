//! Drawing an image into a texture by a compute shader.

use crate::context::device_state::DeviceState;
use crate::context::store_formats::{GROUP, StoreFormat};
use crate::draw::painter::Frame;
use crate::draw::picture::Picture;
use crate::draw::steps::{CURVES, Half, Halves, Steps};
use interop_core::Result;
use interop_core::draw::Plan;
use std::cell::RefCell;

/// Everything that a pipeline is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreKey {
    steps: Steps,
    blends: bool,
    /// True if stored values are encoded as the target's own format does.
    encodes: bool,
    format: StoreFormat,
}

impl StoreKey {
    pub(crate) fn of(plan: &Plan, picture: &Picture, format: StoreFormat) -> Self {
        Self { steps: Steps::of(plan, picture), blends: plan.blends, encodes: plan.format_encodes, format }
    }

    pub(crate) const fn format(&self) -> StoreFormat {
        self.format
    }
}

/// Pipelines by the first use.
#[derive(Default)]
pub(crate) struct Storer(RefCell<Vec<(StoreKey, Made)>>);

/// A pipeline, and the layout of the target's group.
#[derive(Clone)]
pub(crate) struct Made {
    pipeline: wgpu::ComputePipeline,
    target: wgpu::BindGroupLayout,
}

impl Storer {
    /// The pipeline, made at its first use.
    pub(crate) fn get(&self, shared: &DeviceState, halves: &Halves, kind: StoreKey) -> Result<Made> {
        let mut made = self.0.borrow_mut();
        if let Some((_, pipeline)) = made.iter().find(|(other, _)| *other == kind) {
            return Ok(pipeline.clone());
        }
        let new = shared.scoped(|| build(&shared.device, halves.get(kind.steps), kind))?;
        made.push((kind, new.clone()));
        Ok(new)
    }

    /// Records the draw of a frame of this kind. `target` is [`target`] of the same kind.
    pub(crate) fn store(
        shared: &DeviceState,
        encoder: &mut wgpu::CommandEncoder,
        (halves, kind, made): (&Halves, StoreKey, &Made),
        picture: &Picture,
        target: &wgpu::BindGroup,
        frame: Frame,
    ) {
        let bindings = picture.bindings(shared, &halves.get(kind.steps).layout, frame.draw_params());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&made.pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.set_bind_group(1, target, &[]);
        let drawn = frame.plan.drawn;
        pass.dispatch_workgroups(drawn.width.div_ceil(GROUP.0), drawn.height.div_ceil(GROUP.1), 1);
    }
}

/// Returns what is bound of a target. Made for each draw: kept, it would keep the texture.
pub(crate) fn target(device: &wgpu::Device, made: &Made, view: &wgpu::TextureView) -> wgpu::BindGroup {
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("pixelferry target"),
        layout: &made.target,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(view) }],
    })
}

fn build(device: &wgpu::Device, half: &Half, kind: StoreKey) -> Made {
    let StoreFormat { format, name, fixed, .. } = kind.format;
    let (access, word) = match kind.blends {
        true => (wgpu::StorageTextureAccess::ReadWrite, "read_write"),
        false => (wgpu::StorageTextureAccess::WriteOnly, "write"),
    };
    let over = if kind.blends { include_str!("shaders/blend.wgsl") } else { include_str!("shaders/replace.wgsl") };
    let encoding = if kind.encodes { include_str!("shaders/encoded.wgsl") } else { include_str!("shaders/as_is.wgsl") };
    // Shaders that work on colours have them already.
    let curves = if kind.encodes && kind.steps.colors.is_none() { CURVES } else { "" };
    let writes = format!(
        "@group(1) @binding(0) var canvas: texture_storage_2d<{name}, {word}>;\n{}{over}{encoding}{curves}",
        include_str!("shaders/store.wgsl")
    );
    let module = half.module(device, kind.steps.colors.is_some(), &writes);
    let target = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("pixelferry target"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::StorageTexture { access, format, view_dimension: wgpu::TextureViewDimension::D2 },
            count: None,
        }],
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("pixelferry store"),
        bind_group_layouts: &[Some(&half.layout), Some(&target)],
        immediate_size: 0,
    });
    let fixed = kind.blends.then_some(("cut_off", f64::from(u8::from(fixed))));
    let constants: Vec<_> = kind.steps.constants().into_iter().chain(fixed).collect();
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("pixelferry store"),
        layout: Some(&layout),
        module: &module,
        entry_point: Some("store"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &constants,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: None,
    });
    Made { pipeline, target }
}
