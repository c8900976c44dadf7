//! Buffers with storage of their own.

use crate::context::device_state::DeviceState;
use crate::context::format::{WORD, whole_words};
use crate::draw::tools::Tools;
use crate::surface::buffer_copies::{self, CopyTarget};
use interop_core::display::{Bytes, StoredDriver, SurfaceDriver};
use interop_core::{BufferView, HandleType, Result, SharedHandle, Staging};
use std::ops::Range;
use std::sync::Arc;

/// A vertex or storage buffer, in whole words.
pub(crate) struct BufferSurface {
    buffer: wgpu::Buffer,
    bytes: u64,
    tools: Arc<Tools>,
}

interop_core::owned!(BufferSurface: DeviceState, "surface", |surface| &surface.tools.shared);

impl BufferSurface {
    /// Creates a buffer; wgpu initialises it to zero.
    pub(crate) fn new(tools: &Arc<Tools>, bytes: usize) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let shared = &tools.shared;
        let index = if shared.index_buffers { Usage::INDEX } else { Usage::empty() };
        let bytes = bytes as u64;
        let descriptor = wgpu::BufferDescriptor {
            label: Some("pixelferry buffer"),
            size: whole_words(bytes),
            usage: Usage::VERTEX | Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST | index,
            mapped_at_creation: false,
        };
        let buffer = shared.scoped(|| shared.device.create_buffer(&descriptor))?;
        Ok(Self { tools: Arc::clone(tools), buffer, bytes })
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns a position in it; bytes behind the surface's last byte are unused.
    fn place(&self, at: &Range<usize>) -> CopyTarget<'_> {
        let bytes = at.start as u64..at.end as u64;
        CopyTarget { buffer: &self.buffer, is_end: bytes.end == self.bytes, bytes }
    }
}

impl SurfaceDriver<Bytes> for BufferSurface {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        self.tools.shared.read_buffer(&self.buffer, at.start as u64..at.end as u64)
    }
}

impl StoredDriver<Bytes> for BufferSurface {
    fn upload(&mut self, at: &Range<usize>, bytes: &[u8], view: &BufferView) -> Result<()> {
        let from = &bytes[view.offset..view.offset + view.len];
        let shared = &self.tools.shared;
        if self.place(at).is_whole() {
            // The last word may be incomplete.
            let (words, rest) = from.split_at(from.len() / WORD as usize * WORD as usize);
            let mut last = [0; WORD as usize];
            last[..rest.len()].copy_from_slice(rest);
            return shared.scoped(|| {
                shared.queue.write_buffer(&self.buffer, at.start as u64, words);
                if !rest.is_empty() {
                    shared.queue.write_buffer(&self.buffer, (at.start + words.len()) as u64, &last);
                }
                shared.queue.submit([]);
            });
        }
        let scratch = shared.scoped(|| {
            let scratch = shared.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pixelferry upload"),
                size: whole_words(from.len() as u64),
                usage: wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            });
            let mapped = scratch.get_mapped_range_mut(..from.len().next_multiple_of(WORD as usize) as u64);
            let written = mapped.map(|mut mapped| mapped.slice(..from.len()).copy_from_slice(from));
            scratch.unmap();
            written.map(|()| scratch).map_err(|e| shared.failure(e.to_string(), ""))
        })??;
        buffer_copies::copy(&self.tools, (&scratch, 0), &self.place(at)).map(drop)
    }

    fn upload_staged(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        buffer_copies::from_staging(&self.tools, &self.place(at), staging, view)
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        buffer_copies::to_staging(&self.tools, (&self.buffer, at.start), staging, view)
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        Ok(buffer_copies::export(&self.tools.shared, &self.buffer, handle))
    }
}
