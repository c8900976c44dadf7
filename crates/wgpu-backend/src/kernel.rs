//! Kernels: WGSL made into pipelines, one for each format of target.

use crate::params::Numbers;
use crate::prelude::with_prelude;
use crate::session::Session;
use interop_core::compute::SourceCode;
use interop_core::{Error, Kernel, KernelSource, Language, PixelFormat, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

const OP: &str = "ComputeBackend::build";

/// A kernel of one backend.
pub struct WgslKernel {
    name: String,
    text: String,
    pub session: Arc<Session>,
    pub numbers: Numbers,
    /// Memory among its arguments.
    pub memories: usize,
    /// Work items of a group, across and down.
    pub group: [u32; 2],
    /// Work items for a buffer target, where the source said so.
    pub items: Option<usize>,
    pub layouts: [wgpu::BindGroupLayout; 2],
    layout: wgpu::PipelineLayout,
    pipelines: Mutex<HashMap<PixelFormat, wgpu::ComputePipeline>>,
}

interop_core::owned!(WgslKernel: Session, "kernel", |kernel| &kernel.session);

impl Kernel for WgslKernel {
    fn name(&self) -> &str {
        &self.name
    }
}

fn refused(session: &Session, kernel: &str, log: String) -> Error {
    Error::KernelBuild { kernel: kernel.to_owned(), device: session.identity.to_string(), log }
}

impl WgslKernel {
    pub fn build(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        let name = source.name();
        let text = match source.source(Language::Wgsl) {
            Some(SourceCode::Text(text)) => text.as_ref(),
            Some(SourceCode::Native(_)) => {
                return Err(Error::invalid(OP, format!("the WGSL of kernel '{name}' must be text")));
            }
            None => {
                let reason = format!("kernel '{name}' has no WGSL; the languages given: {}", source.languages());
                return Err(session.device.unsupported(OP, reason));
            }
        };
        let shape = Shape::of(name, text).map_err(|log| refused(session, name, log))?;
        let most = session.limits.max_storage_buffers_per_shader_stage as usize;
        if shape.memories + 1 > most {
            let reason =
                format!("kernel '{name}' has {} memories, the target among them; it takes {most}", shape.memories + 1);
            return Err(session.device.unsupported(OP, reason));
        }
        let (layouts, layout) = session.device.scoped(OP, || shape.layouts(&session.device.device))?;
        let kernel = Self {
            name: name.to_owned(),
            text: text.to_owned(),
            session: session.clone(),
            numbers: Numbers::of(text),
            memories: shape.memories,
            group: shape.group,
            items: source.items(),
            layouts,
            layout,
            pipelines: Mutex::default(),
        };
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
            let text = with_prelude(&self.text, format);
            let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(&self.name),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            });
            device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&self.name),
                layout: Some(&self.layout),
                module: &module,
                entry_point: Some(&self.name),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        let pipeline = made.map_err(|error| match error {
            // Out of memory, and a device that is lost, are no fault of the text's.
            Error::Driver(driver) if driver.code_name.starts_with("refused") => {
                refused(&self.session, &self.name, driver.code_name)
            }
            other => other,
        })?;
        pipelines.insert(format, pipeline.clone());
        Ok(pipeline)
    }
}

/// What the text says of the kernel.
struct Shape {
    memories: usize,
    group: [u32; 2],
}

impl Shape {
    fn of(name: &str, text: &str) -> Result<Self, String> {
        let whole = with_prelude(text, PixelFormat::Rgba8);
        let module = naga::front::wgsl::parse_str(&whole).map_err(|error| error.emit_to_string(&whole))?;
        let compute = |entry: &&naga::EntryPoint| entry.stage == naga::ShaderStage::Compute;
        let names =
            || module.entry_points.iter().filter(compute).map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
        let entry = module.entry_points.iter().filter(compute).find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| {
            format!(
                "the text has no '@compute ... fn {name}'; it has: {}",
                Some(names()).filter(|n| !n.is_empty()).unwrap_or("none".into())
            )
        })?;
        let [across, down, deep] = entry.workgroup_size;
        if deep != 1 {
            return Err(format!("its groups are {deep} deep; launches are two-dimensional, so it must be 1"));
        }
        let mut bindings = Vec::new();
        for (_, variable) in module.global_variables.iter() {
            let Some(binding) = &variable.binding else { continue };
            let own = variable.name.as_deref().unwrap_or("a variable");
            let read_only =
                matches!(variable.space, naga::AddressSpace::Storage { access } if access == naga::StorageAccess::LOAD);
            match (binding.group, read_only) {
                (0, _) if own.starts_with("pf_") => {}
                (1, true) => bindings.push(binding.binding as usize),
                _ => {
                    return Err(format!(
                        "'{own}' must be '@group(1) @binding(n) var<storage, read>': memory among the arguments"
                    ));
                }
            }
        }
        bindings.sort_unstable();
        if bindings.iter().enumerate().any(|(at, binding)| at != *binding) {
            return Err(format!(
                "its memories have the bindings {bindings:?} of group 1; number them from 0 without gaps"
            ));
        }
        Ok(Self { memories: bindings.len(), group: [across, down] })
    }

    fn layouts(&self, device: &wgpu::Device) -> ([wgpu::BindGroupLayout; 2], wgpu::PipelineLayout) {
        let entry = |binding: usize, ty| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let of = |entries: &[_]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some("pixelferry kernel"),
                entries,
            })
        };
        let memories: Vec<_> = (0..self.memories).map(|at| entry(at, storage(true))).collect();
        let layouts = [of(&[entry(0, storage(false)), entry(1, wgpu::BufferBindingType::Uniform)]), of(&memories)];
        let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("pixelferry kernel"),
            bind_group_layouts: &[Some(&layouts[0]), Some(&layouts[1])],
            immediate_size: 0,
        });
        (layouts, layout)
    }
}
