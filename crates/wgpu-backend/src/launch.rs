//! Launches: a target and arguments made into bind groups and a grid.

use crate::kernel::WgslKernel;
use crate::memory::WgpuMemory;
use crate::session::Session;
use interop_core::devices::owned::own;
use interop_core::{Arg, Result, Target};
use std::sync::Arc;
use wgpu_display::WgpuDevice;
use wgsl_kernel::Launch;

const OP: &str = "ComputeBackend::launch";

/// Queues `kernel`.
pub fn launch(session: &Arc<Session>, kernel: &WgslKernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let items = target.items();
    let (memory, view) = target.into_parts();
    let memory = own::<WgpuMemory>(memory, session, OP)?;
    let memories = kernel.text.own_memories(memory, args, session)?;
    let (format, launch) = kernel.text.plan(&view, items, args, &session.limits)?;
    if launch.is_empty() {
        return Ok(());
    }
    let pipeline = kernel.pipeline(format)?;
    run(session, &launch, OP, &pipeline, |device, numbers| {
        let read: Vec<_> = memories.iter().map(|memory| memory.buffer()).collect();
        let target = bind(device, &kernel.layouts[0], &[memory.buffer(), numbers]);
        vec![target, bind(device, &kernel.layouts[1], &read)]
    })
}

/// Queues what `launch` says with the groups that `bind` makes of the buffer of its numbers.
pub fn run(
    session: &Session,
    launch: &Launch,
    operation: &'static str,
    pipeline: &wgpu::ComputePipeline,
    bind: impl FnOnce(&WgpuDevice, &wgpu::Buffer) -> Vec<wgpu::BindGroup>,
) -> Result<()> {
    let device = &session.device;
    session
        .with_numbers(|numbers| {
            let groups = device.scoped(operation, || {
                device.queue.write_buffer(numbers, 0, &launch.numbers);
                bind(device, numbers)
            })?;
            device.submit(operation, |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(pipeline);
                for (at, group) in (0..).zip(&groups) {
                    pass.set_bind_group(at, group, &[]);
                }
                let [across, down] = launch.groups;
                pass.dispatch_workgroups(across, down, 1);
            })
        })
        .map(drop)
}

/// Whole buffers as a bind group, bound from 0 on.
pub fn bind(device: &WgpuDevice, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    device.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("pixelferry launch"),
        layout,
        entries: &entries,
    })
}
