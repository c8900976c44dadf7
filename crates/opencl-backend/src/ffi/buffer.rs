//! Buffers: the device's own, and host memory used in place.

use super::handle::{Handle, MemKind, done, enqueued};
use super::turn::{Borrowed, Turns};
use super::{Failure, Session};
use interop_core::HostBlock;
use opencl3::command_queue as queue;
use opencl3::error_codes::CL_MAP_FAILURE;
use opencl3::memory as mem;
use std::cell::Cell;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What the host does with mapped bytes.
#[derive(Clone, Copy)]
enum MapFor {
    Reading,
    /// The old bytes are lost.
    Overwriting,
    /// Whatever the memory's other owner does.
    Sharing,
}

/// A buffer object of a session.
pub struct Buffer {
    mem: Handle<MemKind>,
    session: Arc<Session>,
    len: usize,
    /// The host memory in use, kept until the device has let go of it.
    block: Option<HostBlock>,
    /// Set while the buffer is mapped for the host memory's other owner.
    lent: Cell<Option<NonNull<c_void>>>,
    /// For memory that another API has, too.
    turns: Option<Turns>,
}

impl Buffer {
    /// Memory of the device's own; `host_visible` asks for memory that maps without a copy.
    pub fn allocate(session: &Arc<Session>, len: usize, host_visible: bool) -> Result<Self, Failure> {
        let flags = mem::CL_MEM_READ_WRITE | if host_visible { mem::CL_MEM_ALLOC_HOST_PTR } else { 0 };
        // SAFETY: no host pointer is given.
        unsafe { Self::create(session, flags, len, ptr::null_mut(), None) }
    }

    /// The block's memory in place.
    pub fn import(session: &Arc<Session>, block: &HostBlock) -> Result<Self, Failure> {
        let flags = mem::CL_MEM_READ_WRITE | mem::CL_MEM_USE_HOST_PTR;
        // SAFETY: the address is valid for the length while the block lives, and the buffer keeps it.
        unsafe { Self::create(session, flags, block.len(), block.address().as_ptr().cast(), Some(block.clone())) }
    }

    /// # Safety
    /// `host` must be null, or memory of `block` with `len` bytes.
    unsafe fn create(
        session: &Arc<Session>,
        flags: u64,
        len: usize,
        host: *mut c_void,
        block: Option<HostBlock>,
    ) -> Result<Self, Failure> {
        // SAFETY: the context is live; `host` is valid by the caller's promise.
        let raw = unsafe { mem::create_buffer(session.context.raw(), flags, len, host) };
        // SAFETY: a buffer that was just created, whose one reference is ours.
        let mem = unsafe { Handle::own("clCreateBuffer", raw) }?;
        Ok(Self { mem, session: session.clone(), len, block, lent: Cell::new(None), turns: None })
    }

    /// A buffer that another API has, too; `len` bytes of it are used.
    pub(super) fn shared(session: &Arc<Session>, mem: Handle<MemKind>, turns: Turns, len: usize) -> Self {
        Self { mem, session: session.clone(), len, block: None, lent: Cell::new(None), turns: Some(turns) }
    }

    /// Waits for the turn that was released last.
    pub fn wait_released(&self) -> Result<(), Failure> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.wait(&self.session))
    }

    /// `None` for memory that is ours alone.
    pub fn turns_mut(&mut self) -> Option<&mut Turns> {
        self.turns.as_mut()
    }

    pub fn is_shared(&self) -> bool {
        self.turns.is_some()
    }

    /// Queues the beginning of this API's turn with a buffer that another has, too.
    pub fn acquire(&self) -> Result<(), Failure> {
        // SAFETY: the object is live, of this session, and these are its turns.
        self.turns.as_ref().map_or(Ok(()), |turns| unsafe { turns.acquire(&self.session, self.raw()) })
    }

    /// Queues the end of this API's turn.
    pub fn release(&self) -> Result<(), Failure> {
        // SAFETY: as above.
        self.turns.as_ref().map_or(Ok(()), |turns| unsafe { turns.release(&self.session, self.raw()) })
    }

    /// Before commands use the buffer: it is ours for as long as what is returned lives, or the caller's turn lasts.
    pub(super) fn enter(&self) -> Result<Option<Borrowed<'_>>, Failure> {
        self.take_back()?;
        super::turn::enter(&self.session, self.turns.as_ref(), self.raw())
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Addresses of the host memory in use.
    pub fn host_addresses(&self) -> Option<Range<usize>> {
        let block = self.block.as_ref()?;
        let start = block.address().as_ptr().addr();
        Some(start..start + self.len)
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.mem.raw()
    }

    /// Blocks until the bytes are there.
    pub fn read(&self, offset: usize, into: &mut [u8]) -> Result<(), Failure> {
        let _turn = self.enter()?;
        // SAFETY: `done` waits for the command, so `into` outlives it; the driver refuses ranges outside the buffer.
        unsafe {
            let event = queue::enqueue_read_buffer(
                self.session.queue.raw(),
                self.raw(),
                1,
                offset,
                into.len(),
                into.as_mut_ptr().cast(),
                0,
                ptr::null(),
            );
            done("clEnqueueReadBuffer", event)
        }
    }

    /// Blocks until `from` may be reused.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<(), Failure> {
        let _turn = self.enter()?;
        // SAFETY: `done` waits for the command, so `from` outlives it and is only read; the driver refuses ranges outside.
        unsafe {
            let event = queue::enqueue_write_buffer(
                self.session.queue.raw(),
                self.raw(),
                1,
                offset,
                from.len(),
                from.as_ptr().cast_mut().cast(),
                0,
                ptr::null(),
            );
            done("clEnqueueWriteBuffer", event)
        }
    }

    /// Queues a copy of `range` to the same place in `to`.
    pub fn copy_to(&self, to: &Self, range: Range<usize>) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        // SAFETY: both buffers are live, and the driver keeps them until the copy is done.
        unsafe {
            let event = queue::enqueue_copy_buffer(
                self.session.queue.raw(),
                self.raw(),
                to.raw(),
                range.start,
                range.start,
                range.len(),
                0,
                ptr::null(),
            );
            enqueued("clEnqueueCopyBuffer", event)
        }
    }

    /// Shows mapped bytes to `f`; `range` must not be empty.
    pub fn map_read<R>(&mut self, range: Range<usize>, f: impl FnOnce(&[u8]) -> R) -> Result<R, Failure> {
        let _turn = self.enter()?;
        let mapped = Mapped::new(self, range.clone(), MapFor::Reading)?;
        // SAFETY: mapped for reading with this length, and `&mut self` keeps commands of ours from writing until the
        // guard unmaps.
        let result = f(unsafe { std::slice::from_raw_parts(mapped.address.as_ptr().cast(), range.len()) });
        mapped.unmap().map(|()| result)
    }

    /// Lets `f` write mapped bytes, whose old values are lost; `range` must not be empty.
    pub fn map_write<R>(&mut self, range: Range<usize>, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, Failure> {
        let _turn = self.enter()?;
        let mapped = Mapped::new(self, range.clone(), MapFor::Overwriting)?;
        // SAFETY: mapped for writing with this length; `&mut self` makes the access exclusive until the guard unmaps.
        // Bytes are valid whatever their value.
        let result = f(unsafe { std::slice::from_raw_parts_mut(mapped.address.as_ptr().cast(), range.len()) });
        mapped.unmap().map(|()| result)
    }

    /// Waits for the work queued so far and leaves the buffer mapped, so that the host memory's other owner may use
    /// it (OpenCL 3.0 API, 5.5.2 and 5.2.1: host memory in use holds the current bytes only while mapped).
    pub fn lend(&self) -> Result<(), Failure> {
        if self.lent.get().is_none() {
            self.lent.set(Some(self.map(0..self.len, MapFor::Sharing)?));
        }
        Ok(())
    }

    /// Ends [`Buffer::lend`], before commands use the buffer again.
    pub(super) fn take_back(&self) -> Result<(), Failure> {
        match self.lent.take() {
            Some(address) => self.unmap(address),
            None => Ok(()),
        }
    }

    fn map(&self, range: Range<usize>, purpose: MapFor) -> Result<NonNull<c_void>, Failure> {
        const OP: &str = "clEnqueueMapBuffer";
        let flags = match purpose {
            MapFor::Reading => mem::CL_MAP_READ,
            MapFor::Overwriting => mem::CL_MAP_WRITE_INVALIDATE_REGION,
            MapFor::Sharing => mem::CL_MAP_READ | mem::CL_MAP_WRITE,
        };
        let mut address = ptr::null_mut();
        // SAFETY: queue and buffer are live; the driver refuses ranges outside the buffer.
        unsafe {
            let event = queue::enqueue_map_buffer(
                self.session.queue.raw(),
                self.raw(),
                1,
                flags,
                range.start,
                range.len(),
                &mut address,
                0,
                ptr::null(),
            );
            done(OP, event)?;
        }
        NonNull::new(address).ok_or(Failure { operation: OP, code: CL_MAP_FAILURE })
    }

    fn unmap(&self, address: NonNull<c_void>) -> Result<(), Failure> {
        // SAFETY: `address` came from `map` of this buffer and is unmapped once.
        unsafe {
            let event =
                queue::enqueue_unmap_mem_object(self.session.queue.raw(), self.raw(), address.as_ptr(), 0, ptr::null());
            enqueued("clEnqueueUnmapMemObject", event)
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let taken_back = self.take_back();
        let released = self.release();
        // The device may still write imported memory, which is freed right after this.
        let finished = if self.block.is_some() || self.turns.is_some() { self.session.finish() } else { Ok(()) };
        for failure in [taken_back, released, finished].into_iter().filter_map(Result::err) {
            tracing::warn!(code = failure.code, "{} failed while memory was dropped", failure.operation);
        }
    }
}

/// Unmaps, also where the user's closure panics.
struct Mapped<'a> {
    buffer: &'a Buffer,
    address: NonNull<c_void>,
    done: bool,
}

impl<'a> Mapped<'a> {
    fn new(buffer: &'a Buffer, range: Range<usize>, purpose: MapFor) -> Result<Self, Failure> {
        Ok(Self { buffer, address: buffer.map(range, purpose)?, done: false })
    }

    fn unmap(mut self) -> Result<(), Failure> {
        self.done = true;
        self.buffer.unmap(self.address)
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        if !self.done
            && let Err(failure) = self.buffer.unmap(self.address)
        {
            tracing::warn!(code = failure.code, "{} failed while a panic was passed on", failure.operation);
        }
    }
}
