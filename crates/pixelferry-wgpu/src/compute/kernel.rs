//! Kernels: WGSL made into pipelines, one for each format of target.

use crate::compute::session::Session;
use crate::context::format::texture_format;
use interop_core::describe::process::ProcessOwned;
use interop_core::{Error, Kernel, KernelSource, PixelFormat, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use wgsl_kernel::{Blue, KernelText, bounded, with_room};

/// A kernel of one backend.
pub struct WgslKernel {
    pub text: KernelText,
    pub session: Arc<Session>,
    /// Layout of its arguments, group 1.
    arguments: ProcessOwned<wgpu::BindGroupLayout>,
    /// Empty group 1, for a kernel without arguments.
    none: ProcessOwned<Option<wgpu::BindGroup>>,
    layout: ProcessOwned<wgpu::PipelineLayout>,
    /// Bytes of numbers in a launch's own commands; `None` where they come from a buffer.
    pub immediates: Option<usize>,
    pipelines: ProcessOwned<Mutex<HashMap<(PixelFormat, Writes), wgpu::ComputePipeline>>>,
}

/// Target of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Writes {
    Memory,
    Texture,
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
        let device = &session.device.device;
        let immediates = Some(text.immediate_bytes()).filter(|bytes| *bytes <= session.immediates);
        let (arguments, layout, none) = session.device.scoped(|| {
            let (arguments, layout) = layouts(text.memories(), session, immediates);
            let none = (text.memories() == 0).then(|| bind(device, &arguments, &[]));
            (arguments, layout, none)
        })?;
        let (session, pipelines) = (session.clone(), Mutex::default());
        let kernel = Self {
            text,
            session,
            arguments: ProcessOwned::new(arguments),
            none: ProcessOwned::new(none),
            layout: ProcessOwned::new(layout),
            immediates,
            pipelines: ProcessOwned::new(pipelines),
        };
        // Errors in the text are reported now.
        kernel.pipeline(PixelFormat::Rgba8, Writes::Memory)?;
        Ok(kernel)
    }

    /// Its memories as group 1.
    pub fn arguments(&self, read: &[&wgpu::Buffer]) -> Result<wgpu::BindGroup> {
        match &*self.none {
            Some(none) => Ok(none.clone()),
            None => {
                let device = &self.session.device;
                device.scoped(|| bind(&device.device, &self.arguments, read))
            }
        }
    }

    /// For targets of this format; of a buffer any that is of whole words.
    pub fn pipeline(&self, format: PixelFormat, writes: Writes) -> Result<wgpu::ComputePipeline> {
        let mut pipelines = self.pipelines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&(format, writes)) {
            return Ok(pipeline.clone());
        }
        // naga and wgpu recurse over the text.
        let limits = &self.session.limits;
        let made = with_room(|| self.make(format, writes)).map_err(|error| limits.refused(self.text.name(), error))?;
        let pipeline = made.map_err(|error| match error {
            // Out of memory, and a device that is lost, are no fault of the text's.
            Error::Driver(driver) if driver.code_name.starts_with("refused") => {
                self.session.limits.refused(self.text.name(), driver.code_name)
            }
            other => other,
        })?;
        pipelines.insert((format, writes), pipeline.clone());
        Ok(pipeline)
    }

    fn make(&self, format: PixelFormat, writes: Writes) -> Result<wgpu::ComputePipeline> {
        let device = &self.session.device;
        let (text, layout) = match writes {
            Writes::Memory => (self.text.whole(format), self.layout.clone()),
            Writes::Texture => {
                let target = self.session.texture_layout(texture_format(format))?;
                let layout =
                    device.scoped(|| pipeline_layout(&device.device, &target, &self.arguments, self.immediates))?;
                (self.text.of_texture(format, Blue::First), layout)
            }
        };
        let text = if self.immediates.is_some() { self.text.by_immediates(&text) } else { text };
        let in_module = device.device.adapter_info().backend == wgpu::Backend::Gl;
        let source = if in_module {
            // wgpu leaves indices to OpenGL's drivers, which check no array in registers (llvmpipe crashes), and gives them the zeroes of
            // a group's memory word by word.
            let bounded = bounded(&text, self.text.name());
            let (module, _) = bounded.map_err(|error| self.session.limits.refused(self.text.name(), error))?;
            wgpu::ShaderSource::Naga(Cow::Owned(module))
        } else {
            wgpu::ShaderSource::Wgsl(text.into())
        };
        device.scoped(|| {
            let module = device
                .device
                .create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(self.text.name()), source });
            device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(self.text.name()),
                layout: Some(&layout),
                module: &module,
                entry_point: Some(self.text.name()),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: !in_module,
                    ..Default::default()
                },
                cache: None,
            })
        })
    }
}

/// Tells how a kernel of so many memories is bound.
fn layouts(
    memories: usize,
    session: &Session,
    immediates: Option<usize>,
) -> (wgpu::BindGroupLayout, wgpu::PipelineLayout) {
    let device = &session.device.device;
    let entry = |binding: usize| wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: true },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    let entries: Vec<_> = (0..memories).map(entry).collect();
    let arguments = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("pixelferry arguments"),
        entries: &entries,
    });
    let layout = pipeline_layout(device, &session.layout, &arguments, immediates);
    (arguments, layout)
}

fn pipeline_layout(
    device: &wgpu::Device,
    target: &wgpu::BindGroupLayout,
    arguments: &wgpu::BindGroupLayout,
    immediates: Option<usize>,
) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("pixelferry kernel"),
        bind_group_layouts: &[Some(target), Some(arguments)],
        immediate_size: immediates.unwrap_or(0) as u32,
    })
}

/// Whole buffers, bound from 0 on.
fn bind(device: &wgpu::Device, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let label = Some("pixelferry arguments");
    device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries })
}
