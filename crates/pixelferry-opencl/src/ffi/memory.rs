//! Buffers of a session: the device's own, and host memory used in place.

use super::acquire_release::{AcquireRelease, Borrowed};
use super::track::{Access, Entering};
use super::{Failure, MapMode, Mapped, Mem, NOT_ACQUIRED, Session};
use crate::{Buffer, MemFlags};
use cl3::memory as m;
use interop_core::{HostBlock, Result};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// A buffer in a session: its turns with other APIs, and the host memory that it uses.
pub struct Memory {
    // Let go of before the host memory that it uses.
    buffer: Buffer,
    session: Arc<Session>,
    /// The host memory in use, kept until the device has let go of it.
    block: Option<HostBlock>,
    /// Set while the buffer is mapped for the host memory's other owner.
    lent: RefCell<Option<Mapped>>,
    /// For memory that another API has, too.
    turns: Option<AcquireRelease>,
}

impl Memory {
    /// Buffer of the device's own; `host_visible` asks for memory that maps without a copy.
    pub fn allocate(session: &Arc<Session>, len: usize, host_visible: bool) -> Result<Self> {
        let flags = m::CL_MEM_READ_WRITE | if host_visible { m::CL_MEM_ALLOC_HOST_PTR } else { 0 };
        let mem = Mem::buffer(&session.context, flags, len, None).map_err(|f| session.error(f))?;
        Ok(Self::of(session, Buffer::of(mem, &session.context, MemFlags::READ_WRITE, len)))
    }

    /// The block's memory in place.
    pub fn import(session: &Arc<Session>, block: &HostBlock) -> Result<Self> {
        // SAFETY: the buffer keeps the block, gives `mem` to nobody, and its drop waits for the queue.
        let mem = unsafe { Mem::over_block(&session.context, m::CL_MEM_READ_WRITE, block) };
        let mem = mem.map_err(|f| session.error(f))?;
        let mut buffer = Self::of(session, Buffer::of(mem, &session.context, MemFlags::READ_WRITE, block.len()));
        buffer.block = Some(block.clone());
        Ok(buffer)
    }

    /// Buffer that others may hold, too.
    pub fn of(session: &Arc<Session>, buffer: Buffer) -> Self {
        Self { buffer, session: session.clone(), block: None, lent: RefCell::new(None), turns: None }
    }

    /// A buffer that another API has, too; `len` bytes of it are used.
    pub(crate) fn with_turns(session: &Arc<Session>, mem: Mem, turns: AcquireRelease, len: usize) -> Self {
        let memory = Buffer::of(Arc::new(mem), &session.context, MemFlags::READ_WRITE, len);
        let mut buffer = Self::of(session, memory);
        buffer.turns = Some(turns);
        buffer
    }

    /// Waits for the turn that was released last.
    pub fn wait_released(&self) -> Result<()> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.wait(&self.session))
    }

    /// `None` for memory that is ours alone.
    pub fn turns_mut(&mut self) -> Option<&mut AcquireRelease> {
        self.turns.as_mut()
    }

    /// True where another API has it, too.
    pub fn has_turns(&self) -> bool {
        self.turns.is_some()
    }

    /// Queues the beginning of this API's turn with a buffer that another has, too.
    pub fn acquire(&self) -> Result<()> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.acquire(&self.session, &self.buffer.raw))
    }

    /// Queues the end of this API's turn.
    pub fn release(&self) -> Result<()> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.release(&self.session, &self.buffer.raw))
    }

    /// Before commands use the buffer: it is ours for as long as what is returned lives, or the caller's turn lasts.
    pub(crate) fn enter(&self) -> Result<Option<Borrowed<'_>>> {
        self.take_back()?;
        super::acquire_release::enter(&self.session, self.turns.as_ref(), &self.buffer.raw)
    }

    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// The memory, for others to hold; none of it where it is host memory in place or another API's.
    pub fn shared(&self) -> Option<&Buffer> {
        (self.block.is_none() && self.turns.is_none()).then_some(&self.buffer)
    }

    /// The object, for commands of others in the session's queue, while it is with OpenCL.
    pub fn lent_out(&self) -> Result<*mut c_void> {
        self.take_back()?;
        match &self.turns {
            Some(turns) if !turns.is_acquired(&self.buffer.raw) => {
                Err(self.session.error(Failure { operation: "raw", code: NOT_ACQUIRED }))
            }
            _ => Ok(self.buffer.raw()),
        }
    }

    /// The memory, for a command.
    pub(crate) fn mem(&self) -> &Mem {
        &self.buffer.raw
    }

    /// True where it is host memory in place.
    pub fn is_host_block(&self) -> bool {
        self.block.is_some()
    }

    /// True where `range` here and there has bytes in common.
    pub fn overlaps(&self, other: &Self, range: &Range<usize>) -> bool {
        self.buffer.raw.overlaps(range, &other.buffer.raw, range)
    }

    /// Blocks until the bytes are there.
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let _turn = self.enter()?;
        self.session.queue().read_into(&self.buffer, offset, into, &[])
    }

    /// Blocks until `from` may be reused.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        let _turn = self.enter()?;
        self.session.queue().write_from(&self.buffer, offset, from, &[])
    }

    /// Queues a copy of `range` to the same place in `to`.
    pub fn copy_to(&self, to: &Self, range: Range<usize>) -> Result<()> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        self.session.queue().copy_mem((&self.buffer.raw, range.clone()), (&to.buffer.raw, range), &[]).map(drop)
    }

    /// Shows mapped bytes to `f`; `range` must not be empty.
    pub fn map_read<R>(&mut self, range: Range<usize>, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let _turn = self.enter()?;
        let mapped = self.map(range, MapMode::Read)?;
        let result = f(mapped.bytes());
        mapped.unmap().map(|_| result)
    }

    /// Lets `f` write mapped bytes, whose old values are lost; `range` must not be empty.
    pub fn map_write<R>(&mut self, range: Range<usize>, f: impl FnOnce(&mut [u8]) -> R) -> Result<R> {
        let _turn = self.enter()?;
        let mut mapped = self.map(range, MapMode::Overwrite)?;
        let result = f(mapped.bytes_mut());
        mapped.unmap().map(|_| result)
    }

    /// Waits for the work queued so far and leaves the buffer mapped, so that the host memory's other owner may use it.
    /// Host memory in use holds the current bytes only while mapped (OpenCL 3.0 API, 5.5.2 and 5.2.1).
    pub fn lend(&self) -> Result<()> {
        let lent = self.lent.borrow().is_some();
        if !lent {
            let mapped = Mapped::lent(self.session.queue(), &self.buffer.raw, self.len())?;
            self.lent.replace(Some(mapped));
        }
        Ok(())
    }

    /// Ends [`Memory::lend`], before commands use the buffer again.
    fn take_back(&self) -> Result<()> {
        if self.lent.borrow().is_none() {
            return Ok(());
        }
        // The device may take the bytes over now: nobody else may be writing them.
        let entering = Entering::shared("clEnqueueUnmapMemObject", &[self.buffer.raw.used_whole(Access::Read)]);
        let _entering = entering.map_err(|f| self.session.error(f))?;
        self.lent.take().map_or(Ok(()), |mapped| mapped.unmap().map(drop))
    }

    fn map(&self, range: Range<usize>, mode: MapMode) -> Result<Mapped> {
        self.take_back()?;
        Mapped::buffer(self.session.queue(), &self.buffer.raw, range, mode, &[])
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Whoever uses the bytes now: the device will use them no more.
        let taken_back = self.lent.take().map_or(Ok(()), |mapped| mapped.unmap().map(drop));
        let released = self.release();
        // The device may still write imported memory, which is freed right after this.
        let finished = if self.block.is_some() || self.turns.is_some() { self.session.finish() } else { Ok(()) };
        for error in [taken_back, released, finished].into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "memory was dropped");
        }
    }
}
