//! The memory of the OpenCL backend.

use crate::backend_state::BackendState;
use crate::cl::{self, Buffer, HostBuffer, LentMemory, MemFlags};
use crate::sharing::gl_sync::gl_sync;
use crate::sharing::image::OpenClImage;
use crate::sharing::turns::{CommandTurn, Turns};
use interop_core::compute::MemoryDriver;
use interop_core::compute::{Access, Hazards, NOT_LINEAR};
use interop_core::describe::PlainMutex;
use interop_core::devices::maker_object::{find, own};
use interop_core::{ComputeMemory, Error, HostBlock, Result, SyncKind};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// Memory of one backend: the device's own, another API's, or an imported host block.
pub struct OpenClMemory {
    // Dropped before the host memory that it uses.
    /// Set while the buffer is mapped for the host block's other owners.
    lent: PlainMutex<Option<LentMemory>>,
    storage: Storage,
    /// Number of used bytes of the buffer.
    len: usize,
    /// Turns with another API, for imported memory.
    turns: Option<Turns>,
    /// Operations of queues on the memory.
    pub(crate) hazards: Hazards,
    /// True where the buffer has no other owner, so that its hazards cover all accesses.
    pub(crate) is_own: bool,
    shared: Arc<BackendState>,
}

enum Storage {
    Device(Buffer),
    Host(HostBuffer),
}

interop_core::owned!(OpenClMemory: BackendState, "memory", |memory| &memory.shared);

impl OpenClMemory {
    pub fn allocate(shared: &Arc<BackendState>, bytes: usize) -> Result<Self> {
        // Memory that maps without a copy, where the device has it.
        let host = if shared.is_host_memory() { MemFlags::ALLOC_HOST_PTR } else { MemFlags::NONE };
        let buffer = Buffer::new(shared.context(), MemFlags::READ_WRITE | host, bytes)?;
        Ok(Self::of_storage(shared, Storage::Device(buffer), bytes, None))
    }

    fn of_storage(shared: &Arc<BackendState>, storage: Storage, len: usize, turns: Option<Turns>) -> Self {
        let (lent, hazards) = Default::default();
        Self { lent, storage, len, turns, hazards, is_own: true, shared: shared.clone() }
    }

    /// Orders the next work of the backend's own queue on `range` after operations of other queues on it.
    pub fn enter(&self, range: &Range<usize>, access: Access) -> Result<()> {
        for event in self.hazards.conflicts(range, access) {
            self.shared.follow(&event)?;
        }
        self.hazards.used_by_default(range, access);
        Ok(())
    }

    /// Wraps a buffer that others hold, too.
    pub fn over(shared: &Arc<BackendState>, buffer: &Buffer) -> Self {
        let mut memory = Self::of_storage(shared, Storage::Device(buffer.clone()), buffer.len(), None);
        memory.is_own = false;
        memory
    }

    /// Wraps a buffer that another API shares; `len` bytes of it are used.
    pub fn with_turns(shared: &Arc<BackendState>, buffer: Buffer, len: usize, turns: Turns) -> Self {
        let mut memory = Self::of_storage(shared, Storage::Device(buffer), len, Some(turns));
        memory.is_own = false;
        memory
    }

    pub fn import(shared: &Arc<BackendState>, block: &HostBlock) -> Result<Self> {
        let (bytes, most) = (block.len(), shared.caps.max_allocation);
        if bytes as u64 > most {
            return Err(shared.unsupported(format!("{bytes} bytes are more than its largest allocation, {most}")));
        }
        let buffer = HostBuffer::new(shared.context(), MemFlags::READ_WRITE, block)?;
        Ok(Self::of_storage(shared, Storage::Host(buffer), bytes, None))
    }

    /// Returns the memory in its own type; [`Error::Foreign`] for memory of another backend or device,
    /// [`Error::InvalidInput`] for an image of this one.
    pub fn of<'a>(memory: &'a dyn ComputeMemory, shared: &Arc<BackendState>) -> Result<&'a Self> {
        match find::<OpenClImage>(memory, shared) {
            Some(_) => Err(Error::refused(NOT_LINEAR)),
            None => own::<Self>(memory, shared),
        }
    }

    pub fn buffer(&self) -> &Buffer {
        match &self.storage {
            Storage::Device(buffer) => buffer,
            Storage::Host(buffer) => buffer,
        }
    }

    /// Returns the buffer for others to hold; `None` for imported host memory and for memory of another API.
    pub fn for_others(&self) -> Option<&Buffer> {
        match &self.storage {
            Storage::Device(buffer) if self.turns.is_none() => Some(buffer),
            _ => None,
        }
    }

    /// Precedes commands that use the buffer: OpenCL has it for as long as the returned value lives, or until the
    /// caller's turn ends.
    pub fn turn(&self) -> Result<Option<CommandTurn<'_>>> {
        self.take_back()?;
        self.turns.as_ref().map_or(Ok(None), |turns| turns.enter(&self.shared, self.buffer().into()))
    }

    /// Returns the object for foreign commands in the backend's queue, while OpenCL has it.
    pub fn lent_out(&self) -> Result<*mut c_void> {
        self.take_back()?;
        self.turns.as_ref().map_or(Ok(self.buffer().raw()), |turns| turns.lent_out(self.buffer().into()))
    }

    /// Waits for the work queued so far and leaves imported host memory mapped, so that its other owner may use it: it
    /// holds the current bytes only while it is mapped (OpenCL 3.0 API, 5.5.2 and 5.2.1).
    fn lend(&self) -> Result<()> {
        let mut lent = self.lent.lock();
        if let (Storage::Host(buffer), None) = (&self.storage, &*lent) {
            *lent = Some(buffer.lend(self.shared.queue())?);
        }
        Ok(())
    }

    /// Ends [`OpenClMemory::lend`], before commands use the buffer again.
    fn take_back(&self) -> Result<()> {
        let mut lent = self.lent.lock();
        if let Some(lent) = &mut *lent {
            lent.take_back()?;
        }
        *lent = None;
        Ok(())
    }

    /// Queues a copy of `range` to the same range of `to`.
    pub fn copy_to(&self, to: &Self, range: Range<usize>) -> Result<()> {
        self.enter(&range, Access::Read)?;
        to.enter(&range, Access::Write)?;
        let _turns = (self.turn()?, to.turn()?);
        let (from, to) = ((self.buffer(), range.start), (to.buffer(), range.start));
        self.shared.queue().copy(from, to, range.len(), &[])?;
        self.shared.queue().flush()
    }

    fn read_into(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.shared.timed(None, || {
            let _turn = self.turn()?;
            self.shared.queue().read_into(self.buffer(), offset, into, &[])
        })
    }

    fn write_from(&self, offset: usize, from: &[u8]) -> Result<()> {
        self.shared.timed(None, || {
            let _turn = self.turn()?;
            self.shared.queue().write_from(self.buffer(), offset, from, &[])
        })
    }
}

impl Drop for OpenClMemory {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Other owners may use the bytes: the device does not use them any more.
        self.lent.take();
        let released = self.turns.as_ref().map_or(Ok(()), |turns| turns.release(&self.shared, self.buffer().into()));
        // The device may still write imported memory, which is freed next.
        let finished = if self.for_others().is_none() { self.shared.finish() } else { Ok(()) };
        for error in [released, finished].into_iter().filter_map(Result::err) {
            tracing::warn!(%error, "cannot finish the work on dropped memory");
        }
    }
}

/// Host memory that the driver has page-locked, so that copies to and from it run at the bus's full speed. With
/// NVIDIA's driver 8 MiB took 156 us instead of 450 us. It stays mapped, because only the host uses it.
pub struct PreparedHost {
    _memory: OpenClMemory,
}

impl PreparedHost {
    /// Returns `None` where device memory is host memory, or the driver rejects the block.
    pub fn new(shared: &Arc<BackendState>, block: &HostBlock) -> Option<Self> {
        if shared.is_host_memory() || block.len() == 0 {
            return None;
        }
        match OpenClMemory::import(shared, block).and_then(|memory| memory.lend().map(|()| memory)) {
            Ok(memory) => Some(Self { _memory: memory }),
            Err(error) => {
                tracing::debug!("host memory was not page-locked: {error}");
                None
            }
        }
    }
}

impl MemoryDriver for OpenClMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.enter(&(offset..offset + into.len()), Access::Read)?;
        self.read_into(offset, into)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.enter(&(offset..offset + from.len()), Access::Write)?;
        self.write_from(offset, from)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.enter(&range, Access::Read)?;
        if self.shared.is_host_memory() {
            return self.shared.timed(None, || {
                let _turn = self.turn()?;
                let mapped: cl::MapRead<u8> = self.shared.queue().map_read(self.buffer(), range, &[])?;
                let result = f(&mapped);
                mapped.unmap()?;
                result
            });
        }
        self.shared.with_pinned(range.len(), |bytes| {
            self.read_into(range.start, bytes)?;
            f(bytes)
        })
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.enter(&range, Access::Write)?;
        if self.shared.is_host_memory() {
            return self.shared.timed(None, || {
                let _turn = self.turn()?;
                let mut mapped: cl::MapWrite<u8> = self.shared.queue().map_overwrite(self.buffer(), range, &[])?;
                let result = f(&mut mapped);
                mapped.unmap()?;
                result
            });
        }
        self.shared.with_pinned(range.len(), |bytes| {
            f(bytes)?;
            self.write_from(range.start, bytes)
        })
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        let sync = gl_sync(&self.shared, kind)?;
        let none = || self.shared.unsupported("the memory is not an OpenGL object".into());
        self.turns.as_mut().ok_or_else(none)?.set_gl_sync(sync);
        Ok(())
    }

    fn acquire(&mut self) -> Result<()> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.acquire(&self.shared, self.buffer().into()))
    }

    fn submit(&mut self) -> Result<()> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.release(&self.shared, self.buffer().into()))
    }

    fn release_in_queue(&mut self) -> Result<()> {
        MemoryDriver::submit(self)
    }

    fn release(&mut self) -> Result<()> {
        if let Some(turns) = &self.turns {
            turns.release(&self.shared, self.buffer().into())?;
            return turns.wait(&self.shared);
        }
        match self.storage {
            Storage::Host(_) => self.shared.timed(None, || self.lend()),
            Storage::Device(_) => self.shared.finish(),
        }
    }
}
