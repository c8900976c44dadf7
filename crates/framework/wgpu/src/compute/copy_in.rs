//! Copies between frames or memory and wgpu buffers of other libraries on the same device.

use crate::compute::device::WgpuShaders;
use interop_core::describe::pattern::rows;
use interop_core::{ComputeMemory, Error, Result, Target, View};
use std::iter;
use std::ops::Range;
use wgsl_kernel::WORD;
use wgsl_kernel::shader::MemorySide;

/// Submits a copy from byte `offset` of `from` into `target`.
pub fn copy_in(shaders: &WgpuShaders, target: Target<'_>, from: &wgpu::Buffer, offset: u64) -> Result<()> {
    let (memory, view) = target.into_parts();
    let (memory, view) = shaders.linear(MemorySide::of(memory, &shaders.session)?, view)?;
    submit(shaders, &view, (from, offset), |encoder, at, place| {
        encoder.copy_buffer_to_buffer(from, at, memory, place.start as u64, place.len() as u64);
    })
}

/// Submits a copy of a view of memory to byte `offset` of `to`.
pub fn copy_out(
    shaders: &WgpuShaders,
    memory: &dyn ComputeMemory,
    view: View,
    to: &wgpu::Buffer,
    offset: u64,
) -> Result<()> {
    let side = MemorySide::of(memory, &shaders.session)?;
    if view.span().end > memory.len() {
        let problem = format!("{view:?} reaches outside the memory of {} bytes", memory.len());
        return Err(Error::refused(problem));
    }
    let (memory, view) = shaders.linear(side, view)?;
    submit(shaders, &view, (to, offset), |encoder, at, place| {
        encoder.copy_buffer_to_buffer(memory, place.start as u64, to, at, place.len() as u64);
    })
}

/// Submits copies between the pieces of a view and another library's buffer, which holds them without gaps from a byte
/// on.
fn submit(
    shaders: &WgpuShaders,
    view: &View,
    (theirs, offset): (&wgpu::Buffer, u64),
    copy: impl Fn(&mut wgpu::CommandEncoder, u64, Range<usize>),
) -> Result<()> {
    let bytes = view.payload_len() as u64;
    if offset.checked_add(bytes).is_none_or(|end| end > theirs.size()) {
        let problem =
            format!("{bytes} bytes from byte {offset} on reach outside the buffer of {} bytes", theirs.size());
        return Err(Error::refused(problem));
    }
    let is_whole = |place: &Range<usize>| place.start.is_multiple_of(WORD) && place.len().is_multiple_of(WORD);
    if !offset.is_multiple_of(WORD as u64) || !pieces(view).all(|place| is_whole(&place)) {
        let reason = format!("wgpu copies only whole words of {WORD} bytes, unlike {view:?} at byte {offset}");
        return Err(shaders.device.unsupported(reason));
    }
    // Submitted at once, because the buffer's owner may submit new writes before anything else is submitted here.
    let submitted = shaders.device.submit(|encoder| {
        let mut at = offset;
        for place in pieces(view) {
            let len = place.len() as u64;
            copy(encoder, at, place);
            at += len;
        }
    });
    submitted.map(drop)
}

/// Returns the ranges of the memory in the order of the bytes: one if they are contiguous, otherwise one for each row.
fn pieces(view: &View) -> Box<dyn Iterator<Item = Range<usize>>> {
    match view {
        View::Image(image) if !image.is_contiguous() => Box::new(rows(view).map(|(_, row)| row)),
        _ => Box::new(iter::once(view.span())),
    }
}
