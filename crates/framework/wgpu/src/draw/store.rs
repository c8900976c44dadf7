//! Draws of an image into a texture by a compute shader.

use crate::context::device_state::DeviceState;
use crate::context::store_formats::StoreFormat;
use crate::draw::painter::Frame;
use crate::draw::picture::Picture;
use crate::draw::steps::{Layouts, PLACES, steps};
use interop_core::Result;
use interop_core::describe::PlainMutex;
use interop_core::draw::Plan;
use interop_core::draw::wgsl::{self, GROUP, Steps, Storage};

/// All properties that distinguish pipelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreKey {
    steps: Steps,
    blends: bool,
    /// True where stored values are encoded as the target's own format does.
    encodes: bool,
    format: StoreFormat,
}

impl StoreKey {
    pub(crate) fn of(plan: &Plan, picture: &Picture, format: StoreFormat) -> Self {
        Self { steps: steps(plan, picture), blends: plan.blends, encodes: plan.format_encodes, format }
    }

    pub(crate) const fn format(&self) -> StoreFormat {
        self.format
    }
}

/// Pipelines, created at first use.
#[derive(Default)]
pub(crate) struct Storer(PlainMutex<Vec<(StoreKey, StorePipeline)>>);

/// A pipeline, and the layout of the target's group.
#[derive(Clone)]
pub(crate) struct StorePipeline {
    pipeline: wgpu::ComputePipeline,
    target: wgpu::BindGroupLayout,
}

impl Storer {
    /// Returns the pipeline, created at its first use.
    pub(crate) fn get(&self, shared: &DeviceState, layouts: &Layouts, kind: StoreKey) -> Result<StorePipeline> {
        let mut made = self.0.lock();
        if let Some((_, pipeline)) = made.iter().find(|(other, _)| *other == kind) {
            return Ok(pipeline.clone());
        }
        let new = shared.scoped(|| build(&shared.device, layouts.get(kind.steps), kind))?;
        made.push((kind, new.clone()));
        Ok(new)
    }

    /// Records the draw of a frame of this kind. `target` is the result of [`target`] for the same kind.
    pub(crate) fn store(
        shared: &DeviceState,
        encoder: &mut wgpu::CommandEncoder,
        (layouts, kind, made): (&Layouts, StoreKey, &StorePipeline),
        picture: &Picture,
        target: &wgpu::BindGroup,
        frame: Frame,
    ) {
        let bindings = picture.bindings(shared, layouts.get(kind.steps), frame.draw_params());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&made.pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.set_bind_group(1, target, &[]);
        let drawn = frame.plan.drawn;
        pass.dispatch_workgroups(drawn.width.div_ceil(GROUP.0), drawn.height.div_ceil(GROUP.1), 1);
    }
}

/// Returns the bindings of a target. They are created for each draw, because keeping them would keep the texture alive.
pub(crate) fn target(device: &wgpu::Device, made: &StorePipeline, view: &wgpu::TextureView) -> wgpu::BindGroup {
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("pixelferry target"),
        layout: &made.target,
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: wgpu::BindingResource::TextureView(view) }],
    })
}

fn build(device: &wgpu::Device, image: &wgpu::BindGroupLayout, kind: StoreKey) -> StorePipeline {
    let StoreKey { steps, blends, encodes, format: StoreFormat { format, name, fixed, .. } } = kind;
    let access = if blends { wgpu::StorageTextureAccess::ReadWrite } else { wgpu::StorageTextureAccess::WriteOnly };
    let storage = Storage { name, fixed, blue_first: false, blends, encodes };
    let module = crate::draw::shader::trusted(device, wgsl::store(&PLACES, steps, storage));
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
        bind_group_layouts: &[Some(image), Some(&target)],
        immediate_size: 0,
    });
    let constants = [steps.constants(), storage.constants()].concat();
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
    StorePipeline { pipeline, target }
}
