//! Launches: a target and arguments made into bind groups and a grid.

use crate::kernel::WgslKernel;
use crate::memory::{WORD, WgpuMemory};
use crate::session::Session;
use interop_core::devices::owned::own;
use interop_core::{Arg, BufferView, Error, ImageView, Kernel, PixelFormat, Result, Target, View};
use std::ptr;
use std::sync::Arc;
use wgpu_display::WgpuDevice;

const OP: &str = "ComputeBackend::launch";

/// The head of `PfLaunch`, and the grid.
struct Plan {
    format: PixelFormat,
    head: [u32; 8],
    groups: [u32; 2],
}

/// Queues `kernel`.
pub fn launch(session: &Arc<Session>, kernel: &WgslKernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
    let items = target.items();
    let (memory, view) = target.into_parts();
    let memory = own::<WgpuMemory>(memory, session, OP)?;
    let numbers = kernel.numbers.bits(kernel.name(), args, OP)?;
    let memories = memories(session, kernel, memory, args)?;
    let plan = match view {
        View::Image(image) => of_image(kernel, &image)?,
        View::Buffer(buffer) => of_buffer(session, kernel, &buffer, items)?,
    };
    if plan.groups.contains(&0) {
        return Ok(());
    }
    let most = session.limits.max_compute_workgroups_per_dimension;
    if plan.groups.iter().any(|count| *count > most) {
        let [x, y] = plan.groups;
        return Err(session.device.unsupported(OP, format!("{x} x {y} groups are more than {most} in one direction")));
    }
    let pipeline = kernel.pipeline(plan.format)?;
    let words: Vec<u8> = plan.head.iter().chain(&numbers).flat_map(|word| word.to_ne_bytes()).collect();
    let device = &session.device;
    session
        .with_numbers(|buffer| {
            let groups = device.scoped(OP, || {
                device.queue.write_buffer(buffer, 0, &words);
                let read: Vec<_> = memories.iter().map(|memory| memory.buffer()).collect();
                [bind(device, &kernel.layouts[0], &[memory.buffer(), buffer]), bind(device, &kernel.layouts[1], &read)]
            })?;
            device.submit(OP, |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &groups[0], &[]);
                pass.set_bind_group(1, &groups[1], &[]);
                pass.dispatch_workgroups(plan.groups[0], plan.groups[1], 1);
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

/// The memories among the arguments.
fn memories<'m>(
    session: &Arc<Session>,
    kernel: &WgslKernel,
    target: &WgpuMemory,
    args: &[Arg<'m>],
) -> Result<Vec<&'m WgpuMemory>> {
    let invalid = |problem: String| Error::invalid(OP, format!("kernel '{}': {problem}", kernel.name()));
    let given = args.iter().filter_map(|arg| match arg {
        Arg::Memory(memory) => Some(own::<WgpuMemory>(*memory, session, OP)),
        _ => None,
    });
    let given: Vec<_> = given.collect::<Result<_>>()?;
    if given.len() != kernel.memories {
        return Err(invalid(format!("its text has {} memories, {} were given", kernel.memories, given.len())));
    }
    if given.iter().any(|memory| ptr::eq(*memory, target)) {
        return Err(invalid("the target is an argument, too; wgpu reads no memory that a launch writes".into()));
    }
    Ok(given)
}

fn of_image(kernel: &WgslKernel, view: &ImageView) -> Result<Plan> {
    let align = view.format.bytes_per_pixel().min(WORD);
    if !view.offset.is_multiple_of(align) || !view.row_pitch.unsigned_abs().is_multiple_of(align) {
        return Err(Error::invalid(OP, format!("{view:?} is not aligned to {align} bytes, as its pixels must be")));
    }
    let [across, down] = kernel.group;
    let (width, height) = (view.extent.width, view.extent.height);
    // The view lies in memory that 32 bits address; a negative pitch counts round.
    let head = [view.offset as u32, view.row_pitch as u32, width, height, 0, 0, 0, 0];
    Ok(Plan { format: view.format, head, groups: [width.div_ceil(across), height.div_ceil(down)] })
}

fn of_buffer(session: &Session, kernel: &WgslKernel, view: &BufferView, items: Option<usize>) -> Result<Plan> {
    if !view.offset.is_multiple_of(WORD) {
        return Err(Error::invalid(OP, format!("{view:?} does not begin at a word of {WORD} bytes")));
    }
    let items = items.or(kernel.items).unwrap_or(view.len / WORD);
    let too_many = || Error::invalid(OP, format!("{items} work items are more than a device takes"));
    let items = u32::try_from(items).map_err(|_| too_many())?;
    let [across, down] = kernel.group;
    let per_row = session.limits.max_compute_workgroups_per_dimension;
    let groups = items.div_ceil(across);
    let rows = groups.div_ceil(per_row).next_multiple_of(down);
    let columns = if rows == 0 { 0 } else { groups.div_ceil(rows) };
    let stride = columns.checked_mul(across).ok_or_else(too_many)?;
    let head = [view.offset as u32, view.len as u32, items, 1, stride, 0, 0, 0];
    Ok(Plan { format: PixelFormat::Rgba8, head, groups: [columns, rows / down] })
}
