//! Host memory that a discrete device reads and writes by DMA.

use crate::cl::{Buffer, MapWrite, MemFlags, Queue};
use interop_core::Result;
use interop_core::compute::HostStorage;

/// A buffer with `CL_MEM_ALLOC_HOST_PTR` that stays mapped and that only the host uses. Drivers make it page-locked, so
/// copies to and from it run at the bus's full speed.
pub struct PinnedBuffer(pub MapWrite<u8>);

impl PinnedBuffer {
    /// Allocates `len` bytes, which must not be 0.
    pub fn new(queue: &Queue, len: usize) -> Result<Self> {
        let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR, len)?;
        let mut mapped = queue.map_write(&buffer, 0..len, &[])?;
        // Initialises bytes that a driver may have left uninitialised.
        mapped.fill(0);
        Ok(Self(mapped))
    }
}

// SAFETY: the bytes stay mapped at one address until the value is dropped, and were initialised.
unsafe impl HostStorage for PinnedBuffer {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
