//! Launches: a target and arguments made into bind groups and a grid.

use crate::compute::kernel::WgslKernel;
use crate::compute::memory::WgpuMemory;
use crate::compute::session::Session;
use interop_core::devices::owned::own;
use interop_core::{Arg, Result, Target};
use std::sync::Arc;
use wgsl_kernel::Launch;

/// Queues `kernel`.
pub fn launch(session: &Arc<Session>, kernel: &WgslKernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let items = target.items();
    let (memory, view) = target.into_parts();
    let memory = own::<WgpuMemory>(memory, session)?;
    let memories = kernel.text.own_memories(Some(memory), args, session)?;
    let (format, launch) = kernel.text.plan(&view, items, args, &session.limits)?;
    if launch.is_empty() {
        return Ok(());
    }
    let pipeline = kernel.pipeline(format)?;
    let read: Vec<_> = memories.iter().map(|memory| memory.buffer()).collect();
    let arguments = kernel.arguments(&read)?;
    run(session, &launch, &pipeline, memory, Some(&arguments))
}

/// Queues what `launch` says, with `memory` for its target.
pub fn run(
    session: &Session,
    launch: &Launch,
    pipeline: &wgpu::ComputePipeline,
    memory: &WgpuMemory,
    arguments: Option<&wgpu::BindGroup>,
) -> Result<()> {
    let device = &session.device;
    let target = memory.target()?;
    session.with_numbers(|numbers| {
        device.record(|encoder| {
            let place = numbers.write(&device.queue, launch.numbers());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, target, &[place]);
            pass.set_bind_group(1, arguments, &[]);
            let [across, down] = launch.groups;
            pass.dispatch_workgroups(across, down, 1);
        })
    })
}
