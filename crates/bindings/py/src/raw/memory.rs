//! Reads the memory of arrays.

use crate::failure::Failure;
use crate::items::Items;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::driver::HostBlock;
use pixelferry::{ComputeMemory, Error, PixelFormat, Result};
use pixelferry_look::{Layout, MemoryLocation, Number, Plane, Raw, Span};
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

/// A description of memory.
pub trait MemoryDesc: Copy {
    /// The described range.
    fn span(&self) -> Span;
}

/// A description whose memory can be read.
#[derive(Clone, Copy)]
pub struct Readable<D>(D);

impl Readable<Plane> {
    /// A black picture of this shape.
    pub fn black(shape: Vec<i64>, layout: Layout, format: PixelFormat) -> Result<Self, Failure> {
        let plane = Plane::data(&zeros(shape), layout, format)?;
        // SAFETY: without strides it describes one byte, which always exists.
        Ok(unsafe { Self::new(plane) })
    }

    /// Adds the range, if that depends on numbers on the host. For a device it is measured there later, when the array
    /// is shown.
    pub fn measured(self) -> Result<Self> {
        if self.0.range.fixed().is_some() || self.0.span.place != MemoryLocation::Host {
            return Ok(self);
        }
        Ok(Self(self.0.measured(self.bytes()?)?))
    }
}

impl Readable<Items> {
    /// Describes this many zero bytes.
    pub fn zeros(bytes: i64) -> Result<Self, Failure> {
        let items = Items::new(&zeros(vec![bytes]))?;
        // SAFETY: with a stride of 0 it describes one byte, which always exists.
        Ok(unsafe { Self::new(items) })
    }
}

/// Bytes of this shape, all in the place of one zero.
fn zeros(shape: Vec<i64>) -> Raw {
    static ZERO: u8 = 0;
    Raw {
        address: ptr::from_ref(&ZERO).expose_provenance(),
        strides: Some(vec![0; shape.len()]),
        shape,
        number: Number { code: 1, bits: 8, foreign: false },
        place: MemoryLocation::Host,
    }
}

impl<D: MemoryDesc> Readable<D> {
    /// Makes a value for readable memory.
    ///
    /// # Safety
    /// While a copy of the result is in use, the described memory must be readable: by the host for [`MemoryLocation::Host`],
    /// otherwise by its device in a stream that was ordered after the memory's producer.
    pub const unsafe fn new(description: D) -> Self {
        Self(description)
    }

    pub const fn description(&self) -> &D {
        &self.0
    }

    fn on_host(&self) -> Result<NonNull<u8>> {
        let span = self.0.span();
        let address = NonNull::new(ptr::with_exposed_provenance_mut(span.start));
        let here = (span.place == MemoryLocation::Host).then_some(address).flatten();
        here.ok_or_else(|| Error::invalid("show", "the array is not in host memory"))
    }

    /// All bytes of the range. Another thread of the program may write them at the same time: the picture is then torn,
    /// as it would be in NumPy.
    pub fn bytes(&self) -> Result<&[u8]> {
        let address = self.on_host()?;
        // SAFETY: `new` promises readable host memory; its length was checked when it was described.
        Ok(unsafe { slice::from_raw_parts(address.as_ptr(), self.0.span().len) })
    }

    /// The bytes as an argument of CPU kernels, which only read them.
    pub fn block(&self) -> Result<HostBlock> {
        // SAFETY: as for `bytes`; nothing writes to arguments, and the block is dropped before the array.
        Ok(unsafe { HostBlock::from_raw(self.on_host()?, self.0.span().len, Arc::new(())) })
    }

    /// The bytes as an argument of kernels on their device.
    pub fn on_device(&self, backend: &CudaBackend) -> Result<Box<dyn ComputeMemory>> {
        let span = self.0.span();
        // SAFETY: `new` promises that the memory is allocated. The producer was ordered before the backend's stream,
        // and the caller waits until the returned memory is dropped, so the producer's later work does not overlap.
        unsafe { backend.borrow_memory(span.start as u64, span.len) }
    }
}
