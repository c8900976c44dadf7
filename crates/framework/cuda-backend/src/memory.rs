//! Linear memory: the device's own, exportable memory, registered host pages, mapped GL buffers, and memory of other
//! code.

use crate::ffi::external_memory::ExternalBuffer;
use crate::ffi::foreign_memory::ForeignMemory;
use crate::ffi::graphics::Resource;
use crate::ffi::host_memory::{PinnedMemory, RegisteredMemory};
use crate::ffi::shared_memory::SharedBlock;
use crate::ffi::{DeviceBlock, Span};
use crate::session::Session;
use crate::turn::Turn;
use interop_core::compute::MemoryDriver;
use interop_core::compute::{Access, Hazards};
use interop_core::devices::borrows::Borrow;
use interop_core::{Error, Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;

/// Where the bytes are stored.
pub enum Store {
    /// Own memory, which operations of queues also keep alive.
    Device(Arc<DeviceBlock>),
    Shared(SharedBlock),
    /// Own memory that a display which draws with this backend shares; queues reject it.
    QueueBlock(Arc<DeviceBlock>),
    Host(RegisteredMemory),
    /// Memory of other code, which keeps it alive.
    Borrowed(ForeignMemory),
    External(ExternalBuffer),
    /// An OpenGL buffer, which has an address only while it is mapped.
    GlBuffer(Resource),
}

/// Linear memory of any [`Store`].
pub struct CudaMemory {
    // Dropped before the session, whose stream the drops wait for.
    pub store: Store,
    turn: Turn,
    /// Operations of queues on device memory.
    pub hazards: Hazards,
    /// Pinned memory for `map_read` and `map_write`, kept between calls.
    staging: Option<(PinnedMemory, usize)>,
    len: usize,
    pub session: Arc<Session>,
}

/// Bytes that a command of the default stream uses; held until the command is in the stream.
pub struct BorrowedSpan<'a> {
    pub span: Span<'a>,
    _entered: Option<Borrow>,
}

/// Error for a use before `acquire`.
pub fn not_acquired() -> Error {
    Error::refused("OpenGL has the object; call acquire() first")
}

interop_core::owned!(CudaMemory: Session, "memory", |memory| &memory.session);

impl CudaMemory {
    pub fn new(session: &Arc<Session>, store: Store, len: usize) -> Self {
        Self { store, turn: Turn::default(), hazards: Hazards::default(), staging: None, len, session: session.clone() }
    }

    /// Returns all bytes as kernels address them now.
    pub fn span(&self) -> Result<Span<'_>> {
        let whole = match &self.store {
            Store::Device(block) | Store::QueueBlock(block) => block.span(),
            Store::Shared(block) => block.span(),
            Store::Host(block) => block.span(),
            Store::Borrowed(block) => block.span(),
            Store::External(buffer) => buffer.span(),
            Store::GlBuffer(resource) => {
                let mapped = resource.span().map_err(self.session.failed())?;
                let mapped = mapped.ok_or_else(not_acquired)?;
                // OpenGL may have allocated new storage since the import.
                SharedHandle::check_room(mapped.len() as u64, self.len as u64)?;
                mapped
            }
        };
        whole.part(0..self.len).map_err(self.session.failed())
    }

    /// Borrows bytes that the default stream is about to use, after the operations of queues on them.
    pub fn part(&self, range: &Range<usize>, access: Access) -> Result<BorrowedSpan<'_>> {
        let span = self.span()?.part(range.clone()).map_err(self.session.failed())?;
        if matches!(self.store, Store::Device(_)) {
            for event in self.hazards.conflicts(range, access) {
                self.session.follow(&event)?;
            }
            self.hazards.used_by_default(range, access);
        }
        let entered = match &self.store {
            Store::Host(block) => Some(block.enter(range, access).map_err(|held| held.refuse())?),
            _ => None,
        };
        Ok(BorrowedSpan { span, _entered: entered })
    }

    /// Returns the block that keeps the memory alive, if the memory is the backend's own.
    pub fn block(&self) -> Option<&Arc<DeviceBlock>> {
        match &self.store {
            Store::Device(block) => Some(block),
            _ => None,
        }
    }

    /// Makes `staging` at least `len` bytes long.
    fn reserve(&mut self, len: usize) -> Result<()> {
        if self.staging.as_ref().is_none_or(|(_, have)| *have < len) {
            self.staging = None;
            self.staging = Some((PinnedMemory::new(&self.session.queue, len).map_err(self.session.failed())?, len));
        }
        Ok(())
    }

    /// Returns the GL object, which is mapped for each turn.
    fn resource(&mut self) -> Option<&mut Resource> {
        match &mut self.store {
            Store::GlBuffer(resource) => Some(resource),
            _ => None,
        }
    }
}

impl MemoryDriver for CudaMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let from = self.part(&(offset..offset + into.len()), Access::Read)?;
        self.session.timed("read", || self.session.queue.copies().read(from.span, into)).map_err(self.session.failed())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let to = self.part(&(offset..offset + from.len()), Access::Write)?;
        self.session.timed("write", || self.session.queue.copies().write(from, to.span)).map_err(self.session.failed())
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.span()?;
        self.reserve(range.len())?;
        // Taken out while it is filled from `self`, and put back in every case.
        let Some((mut staging, have)) = self.staging.take() else { return Ok(()) };
        let bytes = &mut staging.bytes()[..range.len()];
        let result = MemoryDriver::read(self, range.start, bytes).and_then(|()| f(bytes));
        self.staging = Some((staging, have));
        result
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.span()?;
        self.reserve(range.len())?;
        let Some((mut staging, have)) = self.staging.take() else { return Ok(()) };
        let bytes = &mut staging.bytes()[..range.len()];
        let result = f(bytes).and_then(|()| MemoryDriver::write(self, range.start, bytes));
        self.staging = Some((staging, have));
        result
    }

    fn acquire(&mut self) -> Result<()> {
        let session = self.session.clone();
        let Some(resource) = self.resource() else { return Ok(()) };
        session.timed("map", || resource.map()).map_err(session.failed())
    }

    fn submit(&mut self) -> Result<()> {
        if self.resource().is_some() {
            // Its release orders GL after the stream without the host.
            return Ok(());
        }
        self.turn.submit(&self.session)
    }

    fn release(&mut self) -> Result<()> {
        let session = self.session.clone();
        match self.resource() {
            // Unmapping orders GL's later work after the stream's; the host need not wait.
            Some(r) => session.timed("unmap", || r.unmap()).map_err(session.failed()),
            None => self.turn.release(&session),
        }
    }
}
