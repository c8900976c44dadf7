//! Launches: a target and arguments made into bind groups and a grid.

use crate::compute::image::WgpuImage;
use crate::compute::kernel::{WgslKernel, Writes};
use crate::compute::memory::WgpuMemory;
use crate::compute::session::Session;
use interop_core::devices::owned::{find, own};
use interop_core::{Arg, Result, Target, View};
use std::sync::Arc;
use wgsl_kernel::Launch;

/// Queues `kernel`.
pub fn launch(session: &Arc<Session>, kernel: &WgslKernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let items = target.items();
    let (memory, view) = target.into_parts();
    if let Some(image) = find::<WgpuImage>(memory, session) {
        return store(session, kernel, image, &view, args);
    }
    let memory = own::<WgpuMemory>(memory, session)?;
    let memories = kernel.text.own_memories(Some(memory), args, session)?;
    write(session, kernel, memory, (&view, items), args, &memories)
}

/// Queues a launch that stores to a texture, or to a linear copy where the text names words.
fn store(session: &Arc<Session>, kernel: &WgslKernel, image: &WgpuImage, view: &View, args: &[Arg<'_>]) -> Result<()> {
    let (text, format) = (&kernel.text, image.format());
    let memories = text.own_memories::<WgpuMemory>(None, args, session)?;
    if !text.stores_to(format, view) {
        let (linear, view) = image.lent(view)?;
        return write(session, kernel, linear, (&view, None), args, &memories);
    }
    let launch = text.plan_texture(format, &image.place(view)?, args, &session.limits)?;
    if launch.is_empty() {
        return Ok(());
    }
    let pipeline = kernel.pipeline(format, Writes::Texture)?;
    let read: Vec<_> = memories.iter().map(|memory| memory.buffer()).collect();
    run(session, &launch, &pipeline, image.target()?, Some((kernel, &read)))
}

/// Queues a launch into linear memory.
fn write(
    session: &Session,
    kernel: &WgslKernel,
    memory: &WgpuMemory,
    (view, items): (&View, Option<usize>),
    args: &[Arg<'_>],
    memories: &[&WgpuMemory],
) -> Result<()> {
    let (format, launch) = kernel.text.plan(view, items, args, &session.limits)?;
    if launch.is_empty() {
        return Ok(());
    }
    let pipeline = kernel.pipeline(format, Writes::Memory)?;
    let read: Vec<_> = memories.iter().map(|memory| memory.buffer()).collect();
    run(session, &launch, &pipeline, memory.target()?, Some((kernel, &read)))
}

/// Queues what `launch` says, with `target` for group 0. A kernel's arguments are memories for group 1.
pub fn run(
    session: &Session,
    launch: &Launch,
    pipeline: &wgpu::ComputePipeline,
    target: &wgpu::BindGroup,
    arguments: Option<(&WgslKernel, &[&wgpu::Buffer])>,
) -> Result<()> {
    let device = &session.device;
    let immediates = arguments.and_then(|(kernel, _)| launch.numbers().get(..kernel.immediates?));
    let arguments = arguments.map(|(kernel, read)| kernel.arguments(read)).transpose()?;
    session.with_numbers(|numbers| {
        device.record(|encoder| {
            let place = if immediates.is_some() { 0 } else { numbers.write(&device.queue, launch.numbers()) };
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, target, &[place]);
            pass.set_bind_group(1, arguments.as_ref(), &[]);
            if let Some(numbers) = immediates {
                pass.set_immediates(0, numbers);
            }
            let [across, down] = launch.groups;
            pass.dispatch_workgroups(across, down, 1);
        })
    })
}
