//! Buffer surfaces with storage of their own.

use crate::context::context_state::ContextState;
use crate::context::owned_object::ObjectRef;
use crate::draw::tools::Tools;
use crate::objects::buffer_object::{check_buffer, copy, create_buffer, read_back_buffer, sub_data};
use crate::objects::call_check::CallCheck;
use crate::staging::GlStaging;
use interop_core::display::{Bytes, Staging, StoredDriver, SurfaceDriver};
use interop_core::{BufferView, HandleType, Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;

const ZERO_BYTES: usize = 1 << 22;

/// A buffer, without a particular target.
pub(crate) struct BufferSurface {
    tools: Arc<Tools>,
    bytes: usize,
    buffer: ObjectRef<glow::Buffer>,
    uploads: CallCheck,
    copies: CallCheck,
}

interop_core::owned!(BufferSurface: ContextState, "surface", |surface| surface.shared());

impl BufferSurface {
    pub(crate) fn new(tools: &Arc<Tools>, bytes: usize) -> Result<Self> {
        let shared = tools.shared();
        let buffer = create_buffer(shared, bytes, glow::DYNAMIC_DRAW)?;
        let zeros = vec![0; bytes.min(ZERO_BYTES)];
        shared.checked("glBufferSubData", || {
            for start in (0..bytes).step_by(zeros.len()) {
                sub_data(shared, buffer.get(), start, &zeros[..zeros.len().min(bytes - start)]);
            }
        })?;
        Ok(Self::with(tools, bytes, ObjectRef::Ours(buffer)))
    }

    /// Wraps an engine's buffer, which has this many bytes.
    pub(crate) fn over(tools: &Arc<Tools>, bytes: usize, buffer: glow::Buffer) -> Self {
        Self::with(tools, bytes, ObjectRef::Engines(buffer))
    }

    fn with(tools: &Arc<Tools>, bytes: usize, buffer: ObjectRef<glow::Buffer>) -> Self {
        Self { tools: Arc::clone(tools), bytes, buffer, uploads: CallCheck::default(), copies: CallCheck::default() }
    }

    fn shared(&self) -> &Arc<ContextState> {
        self.tools.shared()
    }

    pub(crate) fn buffer(&self) -> glow::Buffer {
        self.buffer.get()
    }

    /// Returns the buffer after checking it, because an engine may have replaced its own. The context must be current.
    fn checked(&self) -> Result<glow::Buffer> {
        if let ObjectRef::Engines(name) = self.buffer {
            check_buffer(self.shared(), name, self.bytes as u64)?;
        }
        Ok(self.buffer.get())
    }
}

impl SurfaceDriver<Bytes> for BufferSurface {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        self.shared().enter()?;
        read_back_buffer(self.shared(), self.checked()?, at.clone())
    }
}

impl StoredDriver<Bytes> for BufferSurface {
    fn upload(&mut self, at: &Range<usize>, bytes: &[u8], view: &BufferView) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        let (buffer, bytes) = (self.checked()?, &bytes[view.offset..view.offset + view.len]);
        self.tools.timed("upload", || {
            self.uploads.run(shared, "glBufferSubData", || sub_data(shared, buffer, at.start, bytes))
        })
    }

    fn upload_staged(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        let (from, to) = (GlStaging::of(staging, shared)?.linear()?.buffer(), self.checked()?);
        self.tools.timed("upload", || {
            self.copies.run(shared, "glCopyBufferSubData", || {
                copy(shared, from, view.offset, to, at.start, view.len);
            })
        })
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        let (from, to) = (self.checked()?, GlStaging::of(staging, shared)?.linear()?.buffer());
        self.tools.timed("download", || {
            shared.checked("glCopyBufferSubData", || {
                copy(shared, from, at.start, to, view.offset, view.len);
            })
        })
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        self.shared().enter()?;
        if handle != HandleType::GlObject {
            return Ok(None);
        }
        Ok(Some(SharedHandle::GlBuffer { name: self.checked()?.0.get() }))
    }
}
