//! The verification pattern, written by a kernel.

use crate::compute::launch::run;
use crate::compute::memory::WgpuMemory;
use crate::compute::session::Session;
use interop_core::describe::pattern::Pattern;
use interop_core::{Result, View};
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use wgsl_kernel::{PATTERN, PatternEntry, pattern};

/// The kernels.
pub struct PatternKernel {
    words: wgpu::ComputePipeline,
    /// Built when they are first needed.
    others: Mutex<Vec<(PatternEntry, wgpu::ComputePipeline)>>,
}

impl PatternKernel {
    pub fn build(session: &Session) -> Result<Self> {
        Ok(Self { words: pipeline(session, PatternEntry::Words)?, others: Mutex::default() })
    }

    /// Queues the pattern as `view` lays it out.
    pub fn write(&self, session: &Session, memory: &WgpuMemory, view: &View, wanted: &Pattern) -> Result<()> {
        let (entry, launch) = pattern(view, wanted, &session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        run(session, &launch, &self.pipeline(session, entry)?, memory.target()?, None)
    }

    fn pipeline(&self, session: &Session, entry: PatternEntry) -> Result<wgpu::ComputePipeline> {
        if entry == PatternEntry::Words {
            return Ok(self.words.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, built)) = others.iter().find(|(other, _)| *other == entry) {
            return Ok(built.clone());
        }
        let built = pipeline(session, entry)?;
        others.push((entry, built.clone()));
        Ok(built)
    }
}

fn pipeline(session: &Session, entry: PatternEntry) -> Result<wgpu::ComputePipeline> {
    let device = &session.device;
    device.scoped(|| {
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
            entry_point: Some(entry.name()),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    })
}
