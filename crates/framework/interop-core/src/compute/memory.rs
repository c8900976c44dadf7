//! Memory of a compute device, and imported memory that its kernels access.

use super::zeros;
use crate::describe::error::{Error, Result, call};
use crate::devices::capability::SyncKind;
use crate::devices::ranges::{check_range, range_of};
use std::any::Any;
use std::ops::Range;

/// The driver of a backend's memory. [`ComputeMemory`] wraps it and checks the arguments first.
///
/// Memory itself is not tied to a thread. Memory imported from a display must be dropped before the object that it was
/// imported from (the import keeps the block alive).
///
/// Errors that reject a call need not name it: [`ComputeMemory`] adds the name ([`Error::refused`]).
#[allow(clippy::len_without_is_empty)] // never empty
pub trait MemoryDriver: Any + Send + Sync {
    /// Number of bytes: constant, and never more than the memory has.
    fn len(&self) -> usize;

    /// Copies from the device after all work queued before. Blocks. The range lies inside the memory and is not empty.
    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()>;

    /// Copies to the device after all work queued before. Blocks until `from` may be reused. The range lies inside the
    /// memory and is not empty.
    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()>;

    /// Implements [`ComputeMemory::map_read`] for a non-empty range inside. The default uses a copy instead of a map.
    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut bytes = zeros(range.len())?;
        self.read(range.start, &mut bytes)?;
        f(&bytes)
    }

    /// Implements [`ComputeMemory::map_write`] for a non-empty range inside. The default uses a copy instead of a map.
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
        let reason = format!("the memory cannot be synchronised by a {kind}");
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
    /// A driver becomes [`super::ComputeMemory`] only through the checks of this module.
    pub trait Sealed {}

    impl<M: super::MemoryDriver> Sealed for M {}
}

/// Memory that kernels of one backend read and write.
///
/// Memory itself is not tied to a thread. Memory imported from a display must be dropped before the object that it was
/// imported from (the import keeps the block alive).
///
/// Every call is checked here once before the backend's own type ([`MemoryDriver`]) receives it.
///
/// A backend accepts only memory that it made itself. A backend that wraps another passes on the memory that its own
/// memory wraps, see [`super::Target::within`].
#[allow(clippy::len_without_is_empty)] // never empty
pub trait ComputeMemory: sealed::Sealed + Any + Send + Sync {
    /// Returns the number of bytes; it never changes.
    fn len(&self) -> usize;

    /// Copies from the device after all work queued before. Blocks until the bytes have arrived.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range that reaches outside, here and in the three calls below.
    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()>;

    /// Copies to the device after all work queued before. Blocks until `from` may be reused.
    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()>;

    /// Shows the bytes to the host after all work queued before. They are mapped where device memory is host memory,
    /// otherwise copied. Blocks until they are available.
    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

    /// Lets the host fill the range in place. The old bytes of the range are lost.
    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;

    /// Sets how this memory and its other owner synchronise from now on, for memory of
    /// [`crate::ComputeBackend::import_surface`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for all kinds except [`SyncKind::Implicit`] that [`crate::ComputeCaps::semaphores`] does
    /// not list.
    fn set_sync(&mut self, kind: SyncKind) -> Result<()>;

    /// Begins the compute side's turn with imported memory: kernels queued from now on run after all work that the
    /// other owner was given before. Does nothing for memory of the device's own.
    fn acquire(&mut self) -> Result<()>;

    /// Marks the end of the compute side's turn in the queue, without waiting. The next [`ComputeMemory::release`] then
    /// waits only for the work up to this mark, not for work queued later.
    fn submit(&mut self) -> Result<()>;

    /// Ends the compute side's turn with imported memory: waits for the work queued so far (or up to
    /// [`ComputeMemory::submit`]) and makes it visible to the memory's other owner.
    fn release(&mut self) -> Result<()>;

    /// Ends the compute side's turn with imported memory in queue order, without waiting: for a semaphore that is
    /// signalled next.
    fn release_in_queue(&mut self) -> Result<()>;
}

impl<M: MemoryDriver> ComputeMemory for M {
    fn len(&self) -> usize {
        MemoryDriver::len(self)
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        call("ComputeMemory::read", || {
            check_range(&range_of(offset, into.len()), MemoryDriver::len(self))?;
            if into.is_empty() {
                return Ok(());
            }
            MemoryDriver::read(self, offset, into)
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        call("ComputeMemory::write", || {
            check_range(&range_of(offset, from.len()), MemoryDriver::len(self))?;
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

/// Downcasts, with which backends recover their own types. The compiler determines the type of a memory, so memory of
/// another backend cannot pass as their own, and answers such as its length come from the backend itself.
impl dyn ComputeMemory {
    /// True where the memory has type `M`.
    pub fn is<M: ComputeMemory>(&self) -> bool {
        (self as &dyn Any).is::<M>()
    }

    /// Returns the memory as type `M`; `None` where it has another type.
    pub fn downcast_ref<M: ComputeMemory>(&self) -> Option<&M> {
        (self as &dyn Any).downcast_ref()
    }

    /// Returns the memory as a mutable `M`; `None` where it has another type.
    pub fn downcast_mut<M: ComputeMemory>(&mut self) -> Option<&mut M> {
        (self as &mut dyn Any).downcast_mut()
    }
}
