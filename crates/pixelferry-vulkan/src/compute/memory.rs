//! Memory: storage buffers.

use crate::compute::session::Session;
use crate::context::home::AtHome;
use crate::staging::memory::Buffer;
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::transfer::{copy_bytes, read_buffer, upload_bytes};
use ash::vk;
use interop_core::compute::MemoryDriver;
use interop_core::{Error, Result, SharedHandle};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Memory of one backend.
pub struct VulkanMemory {
    buffer: AtHome<QueueBuffer>,
    len: usize,
    /// The display's, or its engine's.
    lent: bool,
    /// Others know its name, and may submit what uses it.
    named: bool,
    /// Submission after which the last turn in the queue ends.
    turn: Option<u64>,
    session: Arc<Session>,
}

interop_core::owned!(VulkanMemory: Session, "memory", |memory| &memory.session);

impl VulkanMemory {
    /// Zero at first.
    pub fn new(session: &Arc<Session>, len: usize) -> Result<Self> {
        let buffer = Rc::new(Buffer::zeroed(session.shared()?, len)?);
        Self::over(session, QueueBuffer::of(&buffer), len, false)
    }

    /// A buffer of the display's, or of its engine's; or memory of another device's or API's.
    pub fn open(session: &Arc<Session>, handle: &SharedHandle, len: usize) -> Result<Self> {
        let shared = session.shared()?;
        if let SharedHandle::QueueBuffer { .. } = handle {
            return Self::over(session, QueueBuffer::open(shared, handle, len)?, len, true);
        }
        let buffer = Rc::new(Buffer::imported(shared, handle.duplicate_memory()?, len)?);
        Self::over(session, QueueBuffer::of(&buffer), len, false)
    }

    fn over(session: &Arc<Session>, buffer: QueueBuffer, len: usize, lent: bool) -> Result<Self> {
        let buffer = AtHome::new(&session.shared()?.home, buffer)?;
        Ok(Self { buffer, len, lent, named: false, turn: None, session: Arc::clone(session) })
    }

    pub fn buffer(&self) -> Result<&QueueBuffer> {
        self.buffer.get()
    }

    /// A handle by which the display opens it.
    pub fn to_handle(&self) -> Result<SharedHandle> {
        self.buffer()?.clone().into_handle(self.session.shared()?)
    }

    /// The buffer, for others to submit what uses it.
    pub fn give_name(&mut self) -> Result<vk::Buffer> {
        self.named = true;
        Ok(self.buffer()?.raw())
    }

    /// The submission after which all is done that uses it so far.
    fn last_use(&self) -> Result<u64> {
        let submissions = &self.session.shared()?.submissions;
        if self.named { submissions.flush(None) } else { Ok(submissions.last()) }
    }

    /// Queues a copy of `range` to the same place here.
    pub fn copy_from(&self, from: &Self, range: &Range<usize>) -> Result<()> {
        let (from, to, at) = (from.buffer()?.raw(), self.buffer()?.raw(), range.start as u64);
        if from == to {
            return Err(Error::refused("copies are between two memories"));
        }
        copy_bytes(self.session.shared()?, (from, at), (to, at), range.len() as u64).map(drop)
    }
}

impl MemoryDriver for VulkanMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let end = offset + into.len();
        MemoryDriver::map_read(self, offset..end, &mut |bytes| {
            into.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        upload_bytes(self.session.shared()?, (self.buffer()?.raw(), offset as u64), from)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        f(&read_buffer(self.session.shared()?, self.buffer()?.raw(), &(range.start as u64..range.end as u64))?)
    }

    fn submit(&mut self) -> Result<()> {
        self.turn = Some(self.last_use()?);
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        // The queue keeps the order with the display, which is the only other owner.
        if self.lent {
            return Ok(());
        }
        let number = self.turn.take().map_or_else(|| self.last_use(), Ok)?;
        self.session.shared()?.submissions.wait(number)
    }
}
