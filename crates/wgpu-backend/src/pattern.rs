//! The verification pattern, written by a kernel.

use crate::launch::{bind, run};
use crate::memory::WgpuMemory;
use crate::session::Session;
use interop_core::describe::pattern::Pattern;
use interop_core::{Result, View};
use std::borrow::Cow;
use wgsl_kernel::{PATTERN, pattern};

const OP: &str = "ComputeBackend::write_pattern";

/// The kernel.
pub struct PatternKernel {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl PatternKernel {
    pub fn build(session: &Session) -> Result<Self> {
        let device = &session.device;
        device
            .scoped(OP, || {
                let module = device.device.create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("pixelferry pattern"),
                    source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(PATTERN)),
                });
                let pipeline = device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some("pixelferry pattern"),
                    layout: None,
                    module: &module,
                    entry_point: Some("pattern"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                });
                (pipeline.get_bind_group_layout(0), pipeline)
            })
            .map(|(layout, pipeline)| Self { pipeline, layout })
    }

    /// Queues the pattern as `view` lays it out.
    pub fn write(&self, session: &Session, memory: &WgpuMemory, view: &View, wanted: &Pattern) -> Result<()> {
        let launch = pattern(view, wanted, &session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        run(session, &launch, OP, &self.pipeline, |device, numbers| {
            vec![bind(device, &self.layout, &[memory.buffer(), numbers])]
        })
    }
}
