//! Host memory that a discrete device reads and writes by DMA.

use super::handle::{Handle, MemKind, done, enqueued};
use super::{Failure, Session};
use interop_core::compute::HostStorage;
use opencl3::command_queue as queue;
use opencl3::error_codes::CL_MAP_FAILURE;
use opencl3::memory as mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// A buffer with `CL_MEM_ALLOC_HOST_PTR` that stays mapped and is used by the host only: drivers make it page-locked,
/// so that copies from and to it run at the bus's full speed.
pub struct Pinned {
    mem: Handle<MemKind>,
    address: NonNull<u8>,
    len: usize,
    session: Arc<Session>,
}

// SAFETY: the address is plain memory owned by this value, and the handles are `Send`.
unsafe impl Send for Pinned {}

impl Pinned {
    /// `len` must not be 0.
    pub fn new(session: &Arc<Session>, len: usize) -> Result<Self, Failure> {
        const MAP: &str = "clEnqueueMapBuffer";
        let flags = mem::CL_MEM_READ_WRITE | mem::CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: the context is live; no host pointer is given.
        let raw = unsafe { mem::create_buffer(session.context.raw(), flags, len, ptr::null_mut()) };
        // SAFETY: a buffer that was just created, whose one reference is ours.
        let mem = unsafe { Handle::<MemKind>::own("clCreateBuffer", raw) }?;
        let mut address = ptr::null_mut();
        // SAFETY: queue and buffer are live, the range is the whole buffer.
        unsafe {
            let flags = mem::CL_MAP_READ | mem::CL_MAP_WRITE;
            let queue = session.queue.raw();
            let event = queue::enqueue_map_buffer(queue, mem.raw(), 1, flags, 0, len, &mut address, 0, ptr::null());
            done(MAP, event)?;
        }
        let address = NonNull::new(address.cast()).ok_or(Failure { operation: MAP, code: CL_MAP_FAILURE })?;
        let pinned = Self { mem, address, len, session: session.clone() };
        // SAFETY: mapped for writing with this length. Bytes that a driver left uninitialised get a value here, so
        // that slices may be formed.
        unsafe { ptr::write_bytes(pinned.address.as_ptr(), 0, len) };
        Ok(pinned)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: mapped for reading and writing with this length until drop, initialised, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }
}

// SAFETY: through a shared reference the bytes are only read.
unsafe impl Sync for Pinned {}

// SAFETY: the bytes are mapped at one address until the value is dropped, and were initialised.
unsafe impl HostStorage for Pinned {
    fn bytes(&self) -> &[u8] {
        // SAFETY: as in `Pinned::bytes`; nobody writes while the borrow lasts.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        Self::bytes(self)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: the address came from mapping this buffer and is unmapped once, here.
        let unmapped = unsafe {
            let address = self.address.as_ptr().cast();
            let queue = self.session.queue.raw();
            let event = queue::enqueue_unmap_mem_object(queue, self.mem.raw(), address, 0, ptr::null());
            enqueued("clEnqueueUnmapMemObject", event)
        };
        if let Err(failure) = unmapped {
            tracing::warn!(code = failure.code, "{} failed while pinned memory was dropped", failure.operation);
        }
    }
}
