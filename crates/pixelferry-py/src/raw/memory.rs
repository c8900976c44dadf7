//! Reading what a [`Plane`] describes.

use crate::plane::{Place, Plane};
use pixelferry::cuda::CudaBackend;
use pixelferry::{ComputeMemory, Error, HostBlock, Result};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::slice;

/// A description whose memory is there. Made by [`readable`] alone.
#[derive(Clone, Copy)]
pub struct Readable(Plane);

/// Says that the memory of `plane` is there. Its only caller, [`crate::source::Source`], makes the description of an array
/// that it keeps, and the viewer keeps that until the last job that got a copy of this is done. Of what producers say
/// (address, shape, strides), all that can be checked was checked by then; the rest is the protocols' promise.
pub const fn readable(plane: Plane) -> Readable {
    Readable(plane)
}

impl Readable {
    pub const fn plane(&self) -> &Plane {
        &self.0
    }

    fn on_host(&self) -> Result<NonNull<u8>> {
        let address = NonNull::new(ptr::with_exposed_provenance_mut(self.0.start));
        let here = (self.0.place == Place::Host).then_some(address).flatten();
        here.ok_or_else(|| Error::invalid("show", "the array is not in memory of the host"))
    }

    /// All bytes from the first to the last. Another thread of the program may write them meanwhile: then the picture is
    /// torn, as it would be in NumPy.
    pub fn bytes(&self) -> Result<&[u8]> {
        let address = self.on_host()?;
        // SAFETY: readable memory of the host by the promise of `readable`; its length was checked when it was described.
        Ok(unsafe { slice::from_raw_parts(address.as_ptr(), self.0.len) })
    }

    /// The same bytes as an argument of kernels on the CPU, which only read them.
    pub fn block(&self) -> Result<HostBlock> {
        // SAFETY: as for `bytes`; nothing here writes to arguments, and the block goes before the array does.
        Ok(unsafe { HostBlock::from_raw(self.on_host()?, self.0.len, Rc::new(())) })
    }

    /// The bytes as an argument of kernels on their device.
    pub fn on_device(&self, backend: &CudaBackend) -> Result<Box<dyn ComputeMemory>> {
        // SAFETY: allocated by the promise of `readable`; the producer was ordered before the backend's stream, and its
        // caller waits until the memory that is returned here is gone, so that nothing it does later overlaps.
        unsafe { backend.borrow_memory(self.0.start as u64, self.0.len) }
    }
}

/// Orders a backend's stream after a producer's.
pub fn follow(backend: &CudaBackend, stream: usize) -> Result<()> {
    // SAFETY: the number is what the producer's `__cuda_array_interface__` gives as its stream, which by that protocol
    // lives while the array does.
    unsafe { backend.follow_stream(stream) }
}
