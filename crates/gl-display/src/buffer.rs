//! Buffer surfaces with storage of their own.

use crate::buffer_object::{check_buffer, copy, create_buffer, read_back_buffer, sub_data};
use crate::checks::{buffer_part, buffer_transfer};
use crate::context_state::ContextState;
use crate::owned::Named;
use crate::proved::Proved;
use crate::staging::GlStaging;
use crate::tools::Tools;
use interop_core::display::{Part, Staging, Surface};
use interop_core::{HandleType, Result, SharedHandle, SurfaceDesc, View};
use std::any::Any;
use std::rc::Rc;

const ZERO_BYTES: usize = 1 << 22;

/// A buffer, of no particular target.
pub(crate) struct BufferSurface {
    tools: Rc<Tools>,
    desc: SurfaceDesc,
    buffer: Named<glow::Buffer>,
    uploads: Proved,
    copies: Proved,
}

interop_core::owned!(BufferSurface: ContextState, "surface", |surface| surface.shared());

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
        Ok(Self::with(tools, desc, Named::Ours(buffer)))
    }

    /// Over an engine's buffer, which was found to have so many bytes.
    pub(crate) fn over(tools: &Rc<Tools>, desc: SurfaceDesc, buffer: glow::Buffer) -> Self {
        Self::with(tools, desc, Named::Engines(buffer))
    }

    fn with(tools: &Rc<Tools>, desc: SurfaceDesc, buffer: Named<glow::Buffer>) -> Self {
        Self { tools: Rc::clone(tools), desc, buffer, uploads: Proved::default(), copies: Proved::default() }
    }

    fn shared(&self) -> &Rc<ContextState> {
        self.tools.shared()
    }

    pub(crate) fn buffer(&self) -> glow::Buffer {
        self.buffer.get()
    }

    /// The buffer as it is now. An engine's may be another by now; the context must be current.
    fn checked(&self, operation: &'static str) -> Result<glow::Buffer> {
        if let Named::Engines(name) = self.buffer {
            check_buffer(self.shared(), name, self.desc.byte_len(operation)? as u64, operation)?;
        }
        Ok(self.buffer.get())
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
        let (buffer, bytes) = (self.checked(OP)?, &bytes[view.offset..view.offset + view.len]);
        self.tools.timed("upload", || {
            self.uploads.run(shared, "glBufferSubData", || sub_data(shared, buffer, range.start, bytes))
        })
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "upload_staged";
        let shared = self.shared();
        shared.enter(OP)?;
        let staging = GlStaging::of_mut(staging, shared, OP)?;
        let (range, view) = buffer_transfer(&self.desc, at, view, staging.len(), OP)?;
        let to = self.checked(OP)?;
        staging.mark_read();
        let from = staging.linear(OP)?.buffer();
        self.tools.timed("upload", || {
            self.copies.run(shared, "glCopyBufferSubData", || {
                copy(shared, from, view.offset, to, range.start, view.len);
            })
        })
    }

    fn download(&mut self, part: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "download";
        let shared = self.shared();
        shared.enter(OP)?;
        let staging = GlStaging::of_mut(staging, shared, OP)?;
        let (range, view) = buffer_transfer(&self.desc, part, view, staging.len(), OP)?;
        let (from, to) = (self.checked(OP)?, staging.linear(OP)?.buffer());
        staging.begin_write(OP)?;
        self.tools.timed(OP, || {
            shared.checked("glCopyBufferSubData", || {
                copy(shared, from, range.start, to, view.offset, view.len);
            })
        })
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "read_back";
        self.shared().enter(OP)?;
        let range = buffer_part(&self.desc, part, OP)?;
        read_back_buffer(self.shared(), self.checked(OP)?, range)
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        const OP: &str = "export";
        self.shared().enter(OP)?;
        match handle {
            HandleType::GlObject => Ok(SharedHandle::GlBuffer { name: self.checked(OP)?.0.get() }),
            other => Err(self.shared().unsupported(OP, format!("a buffer cannot be named by a {other}"))),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
