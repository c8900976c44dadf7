//! Host memory that a discrete device reads and writes by DMA.

use super::{MapMode, Mapped, Mem, Session};
use cl3::memory as m;
use interop_core::Result;
use interop_core::compute::HostStorage;

/// A buffer with `CL_MEM_ALLOC_HOST_PTR` that stays mapped and that only the host uses. Drivers make it page-locked, so
/// copies from and to it run at the bus's full speed.
pub struct Pinned(Mapped);

impl Pinned {
    /// `len` must not be 0.
    pub fn new(session: &Session, len: usize) -> Result<Self> {
        let flags = m::CL_MEM_READ_WRITE | m::CL_MEM_ALLOC_HOST_PTR;
        let mem = Mem::buffer(&session.context, flags, len, None).map_err(|f| session.error(f))?;
        let mut mapped = Mapped::buffer(session.queue(), &mem, 0..len, MapMode::ReadWrite, &[])?;
        // Bytes that a driver left uninitialised get a value here.
        mapped.bytes_mut().fill(0);
        Ok(Self(mapped))
    }

    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.0.bytes().len()
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

// SAFETY: the bytes stay mapped at one address until the value is dropped, and were given values.
unsafe impl HostStorage for Pinned {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}
