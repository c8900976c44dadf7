//! The verification pattern, written by a kernel.

use crate::launch::bind;
use crate::memory::{WORD, WgpuMemory};
use crate::session::Session;
use interop_core::describe::pattern::Pattern;
use interop_core::{Error, Result, View};
use std::borrow::Cow;

const OP: &str = "ComputeBackend::write_pattern";

const GROUP: u32 = 64;

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
                    source: wgpu::ShaderSource::Wgsl(Cow::Borrowed(include_str!("pattern.wgsl"))),
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
    pub fn write(&self, session: &Session, memory: &WgpuMemory, view: &View, pattern: &Pattern) -> Result<()> {
        let span = view.span();
        if span.is_empty() {
            return Ok(());
        }
        let (pitch, row, lowest, step) = match view {
            View::Image(image) if image.is_reversed() => {
                (image.pitch(), image.row_len(), image.extent.height - 1, 1u32.wrapping_neg())
            }
            View::Image(image) => (image.pitch().max(image.row_len()), image.row_len(), 0, 1),
            View::Buffer(_) => (Pattern::BUFFER_ROW, Pattern::BUFFER_ROW, 0, 1),
        };
        let words = span.end.div_ceil(WORD) - span.start / WORD;
        let per_row = session.limits.max_compute_workgroups_per_dimension;
        let groups = words.div_ceil(GROUP as usize);
        let down = groups.div_ceil(per_row as usize);
        let across = groups.div_ceil(down);
        if down > per_row as usize {
            return Err(Error::invalid(OP, format!("{words} words are more than a device takes in one launch")));
        }
        // Memory is addressed by 32 bits.
        let [first, len, pitch, row, across, down] =
            [span.start, span.len(), pitch, row, across, down].map(|n| n as u32);
        let Pattern { and_mask, or_mask, nonce } = *pattern;
        let rows = [first, pitch, row, len, lowest, step, and_mask, or_mask, nonce, across * GROUP];
        let bytes: Vec<u8> = rows.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let device = &session.device;
        session
            .with_numbers(|numbers| {
                let group = device.scoped(OP, || {
                    device.queue.write_buffer(numbers, 0, &bytes);
                    bind(device, &self.layout, &[memory.buffer(), numbers])
                })?;
                device.submit(OP, |encoder| {
                    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                    pass.set_pipeline(&self.pipeline);
                    pass.set_bind_group(0, &group, &[]);
                    pass.dispatch_workgroups(across, down, 1);
                })
            })
            .map(drop)
    }
}
