//! Buffers with storage of their own.

use crate::buffer_copies::{self, Place};
use crate::device_state::DeviceState;
use crate::format::{WORD, whole_words};
use crate::tools::Tools;
use interop_core::display::checks::{buffer_source, range};
use interop_core::{HandleType, Part, Result, SharedHandle, Staging, Surface, SurfaceDesc, View};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

/// A buffer of vertices or storage, in whole words.
pub(crate) struct BufferSurface {
    desc: SurfaceDesc,
    buffer: wgpu::Buffer,
    bytes: u64,
    tools: Rc<Tools>,
}

interop_core::owned!(BufferSurface: DeviceState, "surface", |surface| &surface.tools.shared);

impl BufferSurface {
    /// wgpu makes the content zero.
    pub(crate) fn new(tools: &Rc<Tools>, desc: SurfaceDesc, bytes: usize) -> Result<Self> {
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
        let buffer = shared.scoped("create_surface", || shared.device.create_buffer(&descriptor))?;
        Ok(Self { tools: Rc::clone(tools), desc, buffer, bytes })
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// A place in it: what lies behind the surface's last byte is nobody's.
    fn place(&self, at: &Range<u64>) -> Place<'_> {
        Place { buffer: &self.buffer, bytes: at.clone(), is_end: at.end == self.bytes }
    }
}

impl Surface for BufferSurface {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        const OP: &str = "upload";
        let (to, view) = buffer_source(&self.desc, at, view, bytes.len(), OP)?;
        let to = to.start as u64..to.end as u64;
        let from = &bytes[view.offset..view.offset + view.len];
        let shared = &self.tools.shared;
        if self.place(&to).is_whole() {
            // The last word may lack bytes.
            let (words, rest) = from.split_at(from.len() / WORD as usize * WORD as usize);
            let mut last = [0; WORD as usize];
            last[..rest.len()].copy_from_slice(rest);
            return shared.scoped(OP, || {
                shared.queue.write_buffer(&self.buffer, to.start, words);
                if !rest.is_empty() {
                    shared.queue.write_buffer(&self.buffer, to.start + words.len() as u64, &last);
                }
                shared.queue.submit([]);
            });
        }
        let scratch = shared.scoped(OP, || {
            let scratch = shared.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pixelferry upload"),
                size: whole_words(from.len() as u64),
                usage: wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            });
            let mapped = scratch.get_mapped_range_mut(..from.len().next_multiple_of(WORD as usize) as u64);
            let written = mapped.map(|mut mapped| mapped.slice(..from.len()).copy_from_slice(from));
            scratch.unmap();
            written.map(|()| scratch).map_err(|e| shared.failure(OP, e.to_string(), ""))
        })??;
        buffer_copies::copy(&self.tools, (&scratch, 0), &self.place(&to), OP).map(drop)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        buffer_copies::from_staging(&self.tools, &self.desc, at, staging, view, |at| self.place(at))
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        buffer_copies::to_staging(&self.tools, &self.buffer, &self.desc, part, staging, view)
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let range = range(&self.desc, part, "read_back")?;
        self.tools.shared.read_buffer(&self.buffer, range, "read_back")
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        buffer_copies::export(&self.tools.shared, &self.buffer, handle)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
