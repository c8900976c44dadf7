//! Copies between buffers of any owner, and their handles for kernels.

use crate::context::device::WgpuDevice;
use crate::context::format::{WORD, whole_words};
use crate::context::queue_buffer::QueueBuffer;
use crate::draw::splice::Splice;
use crate::draw::tools::Tools;
use crate::staging::WgpuStaging;
use interop_core::{BufferView, HandleType, Result, SharedHandle, Staging};
use std::ops::Range;

/// Exports a handle of a storage buffer, in whole words, for kernels in the device's queue.
pub(crate) fn export(device: &WgpuDevice, buffer: &wgpu::Buffer, handle: HandleType) -> Option<SharedHandle> {
    let is_of_the_queue = handle == HandleType::QueueBuffer(device.queue_id());
    is_of_the_queue.then(|| QueueBuffer::over(device, buffer).into_handle())
}

/// Destination of bytes in a buffer.
pub(crate) struct CopyTarget<'a> {
    pub buffer: &'a wgpu::Buffer,
    pub bytes: Range<u64>,
    /// True where the rest of the last word, behind the bytes, is unused.
    pub is_end: bool,
}

impl CopyTarget<'_> {
    /// Returns true where a copy of whole words is sufficient.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes.start.is_multiple_of(WORD) && (self.is_end || self.bytes.end.is_multiple_of(WORD))
    }
}

/// Copies to any position; `from` has whole words.
pub(crate) fn copy(
    tools: &Tools,
    (from, from_byte): (&wgpu::Buffer, u64),
    to: &CopyTarget<'_>,
) -> Result<wgpu::SubmissionIndex> {
    let (to_byte, bytes) = (to.bytes.start, to.bytes.end - to.bytes.start);
    if to.is_whole() && from_byte.is_multiple_of(WORD) {
        return tools.shared.submit(|encoder| {
            encoder.copy_buffer_to_buffer(from, from_byte, to.buffer, to_byte, whole_words(bytes));
        });
    }
    tools.splicer.copy(&tools.shared, &Splice { to: to.buffer, to_byte, bytes }, from, from_byte)
}

/// Copies from a staging block to a part of a surface.
pub(crate) fn from_staging(tools: &Tools, to: &CopyTarget<'_>, staging: &mut Staging, view: &BufferView) -> Result<()> {
    let staging = WgpuStaging::of_mut(staging, &tools.shared)?;
    let index = copy(tools, (staging.buffer()?, view.offset as u64), to)?;
    staging.read_until(index);
    Ok(())
}

/// Copies a part of a surface, starting at `first`, into a staging block.
pub(crate) fn to_staging(
    tools: &Tools,
    (from, first): (&wgpu::Buffer, usize),
    staging: &mut Staging,
    view: &BufferView,
) -> Result<()> {
    let len = staging.len();
    let staging = WgpuStaging::of_mut(staging, &tools.shared)?;
    let (start, end) = (view.offset as u64, (view.offset + view.len) as u64);
    let to = CopyTarget { buffer: staging.buffer()?, bytes: start..end, is_end: end == len as u64 };
    let index = copy(tools, (from, first as u64), &to)?;
    staging.written_until(index)
}
