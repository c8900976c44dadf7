//! Memory of a compute device, and of others that its kernels reach.

use super::host_bytes::zeros;
use crate::describe::error::{Error, Result, call};
use crate::devices::capability::SyncKind;
use crate::devices::ranges::check_range;
use std::any::Any;
use std::ops::Range;

/// The driver of a backend's memory. [`ComputeMemory`] wraps it and checks the arguments first.
///
/// Not tied to a thread on its own; memory imported from a display is dropped before what it was imported from
/// (the import keeps the block alive).
///
/// Errors that refuse a call need not name it: the front does ([`Error::refused`]).
#[allow(clippy::len_without_is_empty)] // never empty
pub trait MemoryDriver: Any {
    /// Number of bytes: always the same, and no more than there are.
    fn len(&self) -> usize;

    /// Copies from the device, after all work queued before. Blocks. The bytes lie inside and are at least 1.
    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()>;

    /// Copies to the device, after all work queued before. Blocks until `from` may be reused. The bytes lie inside and are at
    /// least 1.
    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()>;

    /// Implements [`ComputeMemory::map_read`] for a range inside, of at least 1 byte: by a copy, where nothing is mapped.
    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut bytes = zeros(range.len())?;
        self.read(range.start, &mut bytes)?;
        f(&bytes)
    }

    /// Implements [`ComputeMemory::map_write`] for a range inside, of at least 1 byte: by a copy, where nothing is mapped.
    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let mut bytes = zeros(range.len())?;
        f(&mut bytes)?;
        self.write(range.start, &bytes)
    }

    /// Implements [`ComputeMemory::set_sync`].
    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        if kind == SyncKind::Implicit {
            return Ok(());
        }
        let reason = format!("the memory is not kept apart by a {kind}");
        Err(Error::Unsupported { operation: "", device: "this memory".into(), reason })
    }

    /// Implements [`ComputeMemory::acquire`].
    fn acquire(&mut self) -> Result<()> {
        Ok(())
    }

    /// Implements [`ComputeMemory::submit`].
    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Implements [`ComputeMemory::release`].
    fn release(&mut self) -> Result<()>;

    /// Implements [`ComputeMemory::release_in_queue`].
    fn release_in_queue(&mut self) -> Result<()> {
        Ok(())
    }
}

mod sealed {
    /// A driver alone is [`super::ComputeMemory`], by the checks here.
    pub trait Sealed {}

    impl<M: super::MemoryDriver> Sealed for M {}
}

/// Memory that kernels of one backend read and write.
///
/// Not tied to a thread on its own; memory imported from a display is dropped before what it was imported from
/// (the import keeps the block alive).
///
/// Every call is checked here, once, before the backend's own type ([`MemoryDriver`]) gets it.
///
/// A backend works with memory that it made itself and refuses all other. A backend that wraps another gives that one the
/// memory that it wraps, see [`super::Target::within`].
#[allow(clippy::len_without_is_empty)] // never empty
pub trait ComputeMemory: sealed::Sealed + Any {
    /// Number of bytes.
    fn len(&self) -> usize;

    /// Copies from the device, after all work queued before. Blocks.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for bytes outside, here and in the three calls below.
    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()>;

    /// Copies to the device, after all work queued before. Blocks until `from` may be reused.
    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()>;

    /// Shows the bytes to the host, after all work queued before: mapped where device memory is host memory, else
    /// by way of a copy. Blocks.
    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// Lets the host fill the range in place. The old bytes of the range are lost.
    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Sets how the memory is synchronised with its other owner from now on, for
    /// [`crate::ComputeBackend::import_surface`] of a display's own object.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for all but [`SyncKind::Implicit`] where [`crate::ComputeCaps::semaphores`] does not list the kind.
    fn set_sync(&mut self, kind: SyncKind) -> Result<()>;

    /// Begins the compute side's turn with imported memory: orders kernels queued from now on after what the other
    /// owner was told to do before. Nothing to do for memory of the device's own.
    fn acquire(&mut self) -> Result<()>;

    /// Marks the end of the compute side's turn in the queue without waiting: the next [`ComputeMemory::release`]
    /// waits for the work up to here only, not for what is queued later.
    fn submit(&mut self) -> Result<()>;

    /// Ends the compute side's turn with imported memory: waits for the work queued so far (or up to
    /// [`ComputeMemory::submit`]) and makes it visible to the memory's other owner.
    fn release(&mut self) -> Result<()>;

    /// Ends the compute side's turn with imported memory in queue order, without waiting: for a semaphore that is
    /// signalled next.
    fn release_in_queue(&mut self) -> Result<()>;
}

/// `offset..offset + len`; where that overflows, a range that no memory contains.
fn range(offset: usize, len: usize) -> Range<usize> {
    offset..offset.saturating_add(len)
}

impl<M: MemoryDriver> ComputeMemory for M {
    fn len(&self) -> usize {
        MemoryDriver::len(self)
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        call("ComputeMemory::read", || {
            check_range(&range(offset, into.len()), MemoryDriver::len(self))?;
            if into.is_empty() {
                return Ok(());
            }
            MemoryDriver::read(self, offset, into)
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        call("ComputeMemory::write", || {
            check_range(&range(offset, from.len()), MemoryDriver::len(self))?;
            if from.is_empty() {
                return Ok(());
            }
            MemoryDriver::write(self, offset, from)
        })
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        call("ComputeMemory::map_read", || {
            check_range(&range, MemoryDriver::len(self))?;
            if range.is_empty() {
                return f(&[]);
            }
            MemoryDriver::map_read(self, range, f)
        })
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        call("ComputeMemory::map_write", || {
            check_range(&range, MemoryDriver::len(self))?;
            if range.is_empty() {
                return f(&mut []);
            }
            MemoryDriver::map_write(self, range, f)
        })
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        call("ComputeMemory::set_sync", || MemoryDriver::set_sync(self, kind))
    }

    fn acquire(&mut self) -> Result<()> {
        call("ComputeMemory::acquire", || MemoryDriver::acquire(self))
    }

    fn submit(&mut self) -> Result<()> {
        call("ComputeMemory::submit", || MemoryDriver::submit(self))
    }

    fn release(&mut self) -> Result<()> {
        call("ComputeMemory::release", || MemoryDriver::release(self))
    }

    fn release_in_queue(&mut self) -> Result<()> {
        call("ComputeMemory::release_in_queue", || MemoryDriver::release_in_queue(self))
    }
}

/// For backends to find their own types again. The compiler says what type a memory is of, so that nobody else's can pass
/// for one: what a backend then asks it, its length above all, is answered by the backend itself.
impl dyn ComputeMemory {
    /// This memory, for any thread ([`super::ComputeBackend::allocate_send`]). It is for backends whose type of memory is bound to a
    /// thread in some cases only: memory imported from a display, or host memory that somebody shares.
    ///
    /// # Safety
    /// All that this memory holds, now and later, may be used and dropped on any thread, one at a time.
    pub unsafe fn assume_send(self: Box<Self>) -> Box<dyn ComputeMemory + Send> {
        // SAFETY: the two types differ in an auto trait alone, so in nothing at run time, and the caller vouches for that trait.
        unsafe { std::mem::transmute(self) }
    }

    /// True where it is of that type.
    pub fn is<M: ComputeMemory>(&self) -> bool {
        (self as &dyn Any).is::<M>()
    }

    /// The memory as that type, where it is of it.
    pub fn downcast_ref<M: ComputeMemory>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }

    /// The memory as that type, to change it, where it is of it.
    pub fn downcast_mut<M: ComputeMemory>(&mut self) -> Option<&mut M> {
        (self as &mut dyn Any).downcast_mut()
    }
}
