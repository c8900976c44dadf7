//! Reading the memory of arrays.

use crate::failure::Failure;
use crate::items::Items;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::driver::HostBlock;
use pixelferry::{ComputeMemory, Error, PixelFormat, Result};
use pixelferry_look::{Layout, Number, Place, Plane, Raw, Span};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::slice;

/// A description of memory.
pub trait Lies: Copy {
    /// Tells where it is.
    fn span(&self) -> Span;
}

/// A description whose memory is there.
#[derive(Clone, Copy)]
pub struct Readable<D>(D);

impl Readable<Plane> {
    /// Black of this shape.
    pub fn black(shape: Vec<i64>, layout: Layout, format: PixelFormat) -> Result<Self, Failure> {
        let plane = Plane::data(&zeros(shape), layout, format)?;
        // SAFETY: with no strides it describes one byte, which is always there.
        Ok(unsafe { Self::new(plane) })
    }

    /// With its range, where that depends on numbers of the host. Those of a device are measured there, as it is put.
    pub fn measured(self) -> Result<Self> {
        if self.0.range.fixed().is_some() || self.0.span.place != Place::Host {
            return Ok(self);
        }
        Ok(Self(self.0.measured(self.bytes()?)?))
    }
}

impl Readable<Items> {
    /// Allocates so many zeros.
    pub fn zeros(bytes: i64) -> Result<Self, Failure> {
        let items = Items::new(&zeros(vec![bytes]))?;
        // SAFETY: with no stride it describes one byte, which is always there.
        Ok(unsafe { Self::new(items) })
    }
}

/// Bytes of this shape, which are all the same zero.
fn zeros(shape: Vec<i64>) -> Raw {
    static ZERO: u8 = 0;
    Raw {
        address: ptr::from_ref(&ZERO).expose_provenance(),
        strides: Some(vec![0; shape.len()]),
        shape,
        number: Number { code: 1, bits: 8, foreign: false },
        place: Place::Host,
    }
}

impl<D: Lies> Readable<D> {
    /// # Safety
    /// For as long as a copy of this is used, the described memory must be readable: by the host for [`Place::Host`], else
    /// by its device in work of a stream that was ordered after the memory's producer.
    pub const unsafe fn new(description: D) -> Self {
        Self(description)
    }

    pub const fn description(&self) -> &D {
        &self.0
    }

    fn on_host(&self) -> Result<NonNull<u8>> {
        let span = self.0.span();
        let address = NonNull::new(ptr::with_exposed_provenance_mut(span.start));
        let here = (span.place == Place::Host).then_some(address).flatten();
        here.ok_or_else(|| Error::invalid("show", "the array is not in memory of the host"))
    }

    /// All bytes from the first to the last. Another thread of the program may write them meanwhile: then the picture is
    /// torn, as it would be in NumPy.
    pub fn bytes(&self) -> Result<&[u8]> {
        let address = self.on_host()?;
        // SAFETY: readable memory of the host by the promise given to `new`; its length was checked when it was described.
        Ok(unsafe { slice::from_raw_parts(address.as_ptr(), self.0.span().len) })
    }

    /// The bytes as an argument of kernels on the CPU, which only read them.
    pub fn block(&self) -> Result<HostBlock> {
        // SAFETY: as for `bytes`; nothing here writes to arguments, and the block goes before the array does.
        Ok(unsafe { HostBlock::from_raw(self.on_host()?, self.0.span().len, Rc::new(())) })
    }

    /// The bytes as an argument of kernels on their device.
    pub fn on_device(&self, backend: &CudaBackend) -> Result<Box<dyn ComputeMemory>> {
        let span = self.0.span();
        // SAFETY: allocated by the promise given to `new`; the producer was ordered before the backend's stream, and its
        // caller waits until the memory that is returned here is gone, so that nothing it does later overlaps.
        unsafe { backend.borrow_memory(span.start as u64, span.len) }
    }
}
