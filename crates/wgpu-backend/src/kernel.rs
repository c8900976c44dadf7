//! Kernels: WGSL made into pipelines, one for each format of target.

use crate::session::Session;
use interop_core::{Error, Kernel, KernelSource, PixelFormat, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wgsl_kernel::KernelText;

const OP: &str = "ComputeBackend::build";

/// A kernel of one backend.
pub struct WgslKernel {
    pub text: KernelText,
    pub session: Arc<Session>,
    pub layouts: [wgpu::BindGroupLayout; 2],
    layout: wgpu::PipelineLayout,
    pipelines: Mutex<HashMap<PixelFormat, wgpu::ComputePipeline>>,
}

interop_core::owned!(WgslKernel: Session, "kernel", |kernel| &kernel.session);

impl Kernel for WgslKernel {
    fn name(&self) -> &str {
        self.text.name()
    }
}

impl WgslKernel {
    pub fn build(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        let text = KernelText::of(source, &session.limits)?;
        let (layouts, layout) = session.device.scoped(OP, || layouts(text.memories(), &session.device.device))?;
        let kernel = Self { text, session: session.clone(), layouts, layout, pipelines: Mutex::default() };
        // What is wrong with the text is told now.
        kernel.pipeline(PixelFormat::Rgba8)?;
        Ok(kernel)
    }

    /// For targets of this format; of a buffer any that is of whole words.
    pub fn pipeline(&self, format: PixelFormat) -> Result<wgpu::ComputePipeline> {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&format) {
            return Ok(pipeline.clone());
        }
        let device = &self.session.device;
        let made = device.scoped(OP, || {
            let text = self.text.whole(format);
            let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(self.text.name()),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            });
            device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(self.text.name()),
                layout: Some(&self.layout),
                module: &module,
                entry_point: Some(self.text.name()),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        let pipeline = made.map_err(|error| match error {
            // Out of memory, and a device that is lost, are no fault of the text's.
            Error::Driver(driver) if driver.code_name.starts_with("refused") => {
                self.session.limits.refused(self.text.name(), driver.code_name)
            }
            other => other,
        })?;
        pipelines.insert(format, pipeline.clone());
        Ok(pipeline)
    }
}

/// How a kernel of so many memories is bound.
fn layouts(memories: usize, device: &wgpu::Device) -> ([wgpu::BindGroupLayout; 2], wgpu::PipelineLayout) {
    let entry = |binding: usize, ty| wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let of = |entries: &[_]| {
        device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("pixelferry kernel"), entries })
    };
    let memories: Vec<_> = (0..memories).map(|at| entry(at, storage(true))).collect();
    let layouts = [of(&[entry(0, storage(false)), entry(1, wgpu::BufferBindingType::Uniform)]), of(&memories)];
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("pixelferry kernel"),
        bind_group_layouts: &[Some(&layouts[0]), Some(&layouts[1])],
        immediate_size: 0,
    });
    (layouts, layout)
}
