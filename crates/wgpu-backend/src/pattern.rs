//! The verification pattern, written by a kernel.

use crate::launch::run;
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
                let layout = device.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some("pixelferry pattern"),
                    bind_group_layouts: &[Some(&session.layout)],
                    immediate_size: 0,
                });
                device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some("pixelferry pattern"),
                    layout: Some(&layout),
                    module: &module,
                    entry_point: Some("pattern"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                })
            })
            .map(|pipeline| Self { pipeline })
    }

    /// Queues the pattern as `view` lays it out.
    pub fn write(&self, session: &Session, memory: &WgpuMemory, view: &View, wanted: &Pattern) -> Result<()> {
        let launch = pattern(view, wanted, &session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        run(session, &launch, OP, &self.pipeline, memory, None)
    }
}
