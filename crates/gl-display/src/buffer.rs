//! Buffer surfaces with storage of their own.

use crate::checks::{buffer_part, buffer_transfer};
use crate::names::Owned;
use crate::proved::Proved;
use crate::shared::Shared;
use crate::staging::GlStaging;
use crate::state::BoundBuffer;
use crate::tools::Tools;
use glow::HasContext as _;
use interop_core::display::{Part, Staging, Surface};
use interop_core::{HandleType, Result, SharedHandle, SurfaceDesc, View};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

const ZERO_BYTES: usize = 1 << 22;

/// A buffer, of no particular target.
pub(crate) struct BufferSurface {
    tools: Rc<Tools>,
    desc: SurfaceDesc,
    buffer: Owned<glow::Buffer>,
    uploads: Proved,
    copies: Proved,
}

/// Makes a name for a buffer.
pub(crate) fn create_name(shared: &Rc<Shared>) -> Result<Owned<glow::Buffer>> {
    // SAFETY: the context is current; the direct call is gated.
    let name = unsafe { if shared.features.dsa { shared.gl.create_named_buffer() } else { shared.gl.create_buffer() } };
    Ok(Owned::new(shared, name.map_err(|e| shared.no_name("glCreateBuffers", &e))?))
}

/// Makes a mutable buffer of `bytes` bytes (at most 2^31 - 1, checked by the callers).
pub(crate) fn create_buffer(shared: &Rc<Shared>, bytes: usize, usage: u32) -> Result<Owned<glow::Buffer>> {
    const OP: &str = "glBufferData";
    shared.drain_errors(OP);
    let buffer = create_name(shared)?;
    {
        let _bound = BoundBuffer::write(shared, buffer.get());
        // SAFETY: the context is current and the buffer bound.
        unsafe { shared.gl.buffer_data_size(glow::COPY_WRITE_BUFFER, bytes as i32, usage) }
    }
    shared.check(OP)?;
    Ok(buffer)
}

/// `glBufferSubData`, directly where the context can. `offset + bytes.len()` lies inside the buffer.
fn sub_data(shared: &Shared, buffer: glow::Buffer, offset: usize, bytes: &[u8]) {
    // SAFETY: the context is current; offsets fit in 31 bits, as sizes do.
    unsafe {
        if shared.features.dsa {
            shared.gl.named_buffer_sub_data_u8_slice(buffer, offset as i32, bytes);
        } else {
            let _bound = BoundBuffer::write(shared, buffer);
            shared.gl.buffer_sub_data_u8_slice(glow::COPY_WRITE_BUFFER, offset as i32, bytes);
        }
    }
}

/// `glCopyBufferSubData`. Both ranges lie inside their buffers, which are not the same.
pub(crate) fn copy(
    shared: &Shared,
    from: glow::Buffer,
    from_offset: usize,
    to: glow::Buffer,
    to_offset: usize,
    len: usize,
) {
    let _read = BoundBuffer::read(shared, from);
    let _write = BoundBuffer::write(shared, to);
    // SAFETY: the context is current and both are bound; offsets fit in 31 bits.
    unsafe {
        shared.gl.copy_buffer_sub_data(
            glow::COPY_READ_BUFFER,
            glow::COPY_WRITE_BUFFER,
            from_offset as i32,
            to_offset as i32,
            len as i32,
        );
    }
}

/// The bytes of a range of any buffer, by way of a copy made by GL.
pub(crate) fn read_back_buffer(shared: &Rc<Shared>, buffer: glow::Buffer, range: Range<usize>) -> Result<Vec<u8>> {
    let scratch = create_buffer(shared, range.len(), glow::STREAM_READ)?;
    let mut bytes = vec![0; range.len()];
    shared.checked("glGetBufferSubData", || {
        copy(shared, buffer, range.start, scratch.get(), 0, range.len());
        let _bound = BoundBuffer::write(shared, scratch.get());
        // SAFETY: the context is current, and the scratch buffer is bound and as long as `bytes`.
        unsafe { shared.gl.get_buffer_sub_data(glow::COPY_WRITE_BUFFER, 0, &mut bytes) }
    })?;
    Ok(bytes)
}

impl BufferSurface {
    pub(crate) fn new(tools: &Rc<Tools>, desc: SurfaceDesc, bytes: usize) -> Result<Self> {
        let shared = tools.shared();
        let buffer = create_buffer(shared, bytes, glow::DYNAMIC_DRAW)?;
        let zeros = vec![0; bytes.min(ZERO_BYTES)];
        shared.checked("glBufferSubData", || {
            for start in (0..bytes).step_by(zeros.len()) {
                sub_data(shared, buffer.get(), start, &zeros[..zeros.len().min(bytes - start)]);
            }
        })?;
        Ok(Self { tools: Rc::clone(tools), desc, buffer, uploads: Proved::default(), copies: Proved::default() })
    }

    fn shared(&self) -> &Rc<Shared> {
        self.tools.shared()
    }

    pub(crate) fn belongs_to(&self, shared: &Rc<Shared>) -> bool {
        Rc::ptr_eq(self.shared(), shared)
    }

    pub(crate) fn buffer(&self) -> glow::Buffer {
        self.buffer.get()
    }
}

impl Surface for BufferSurface {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        const OP: &str = "upload";
        let shared = self.shared();
        shared.enter(OP)?;
        let (range, view) = buffer_transfer(&self.desc, at, view, bytes.len(), OP)?;
        let bytes = &bytes[view.offset..view.offset + view.len];
        self.tools.timed("upload", || {
            self.uploads.run(shared, "glBufferSubData", || sub_data(shared, self.buffer.get(), range.start, bytes))
        })
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "upload_staged";
        let shared = self.shared();
        shared.enter(OP)?;
        let staging = GlStaging::of_mut(staging, shared, OP)?;
        let (range, view) = buffer_transfer(&self.desc, at, view, staging.len(), OP)?;
        staging.mark_read();
        let from = staging.linear(OP)?.buffer();
        self.tools.timed("upload", || {
            self.copies.run(shared, "glCopyBufferSubData", || {
                copy(shared, from, view.offset, self.buffer.get(), range.start, view.len);
            })
        })
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "read_back";
        self.shared().enter(OP)?;
        let range = buffer_part(&self.desc, part, OP)?;
        read_back_buffer(self.shared(), self.buffer.get(), range)
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        const OP: &str = "export";
        self.shared().enter(OP)?;
        match handle {
            HandleType::GlObject => Ok(SharedHandle::GlBuffer { name: self.buffer.get().0.get() }),
            other => Err(self.shared().unsupported(OP, format!("a buffer cannot be named by a {other}"))),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
