//! Memory and semaphores that the two doubles make, wrapped.

use crate::faults::arm::{Alive, Faults};
use crate::faults::step::FaultStep;
use crate::faults::wrapped_memory::Wraps;
use interop_core::compute::MemoryDriver;
use interop_core::display::SemaphoreDriver;
use interop_core::{ComputeMemory, ComputeSemaphore, DisplaySemaphore, Result, Staging, SyncKind};
use std::ops::Range;

/// An object of the wrapped side, counted while it lives.
pub(crate) struct Double<T: ?Sized> {
    inner: Box<T>,
    faults: Faults,
    _alive: Alive,
}

impl<T: ?Sized> Double<T> {
    /// `inner`, counted by the name of its kind.
    pub fn over(inner: Box<T>, faults: &Faults, kind: &'static str) -> Box<Self> {
        Box::new(Self { inner, faults: faults.clone(), _alive: faults.alive(kind) })
    }
}

impl Wraps for Double<dyn ComputeMemory> {
    fn inner(&self) -> &dyn ComputeMemory {
        self.inner.as_ref()
    }

    fn inner_mut(&mut self) -> &mut dyn ComputeMemory {
        self.inner.as_mut()
    }
}

impl MemoryDriver for Double<dyn ComputeMemory> {
    crate::forward! {
        & len() -> usize;
        Write after &mut write(offset: usize, from: &[u8]) -> Result<()>;
        MapWrite after &mut map_write(range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;
        SetSync before &mut set_sync(kind: SyncKind) -> Result<()>;
        Acquire before &mut acquire() -> Result<()>;
        Submit ends &mut submit() -> Result<()>;
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.tamper()?;
        self.faults.after(FaultStep::Read, || self.inner.read(offset, into))
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.faults.before(FaultStep::MapRead, || self.inner.map_read(range, f))
    }

    fn release(&mut self) -> Result<()> {
        self.tamper()?;
        self.faults.ends(FaultStep::Release, || self.inner.release())
    }

    fn release_in_queue(&mut self) -> Result<()> {
        self.tamper()?;
        self.faults.ends(FaultStep::ReleaseInQueue, || self.inner.release_in_queue())
    }
}

impl Double<dyn ComputeMemory> {
    /// Changes what [`Faults::tamper`] names.
    fn tamper(&mut self) -> Result<()> {
        let Some(bytes) = self.faults.tampered(self.inner.len()) else { return Ok(()) };
        let mut changed = vec![0; bytes.len()];
        self.inner.read(bytes.start, &mut changed)?;
        changed.iter_mut().for_each(|byte| *byte = !*byte);
        self.inner.write(bytes.start, &changed)
    }
}

impl ComputeSemaphore for Double<dyn ComputeSemaphore> {
    crate::forward! {
        ComputeSignal before &mut signal(value: u64) -> Result<()>;
        ComputeWait before &mut wait(value: u64) -> Result<()>;
    }
}

impl SemaphoreDriver for Double<DisplaySemaphore> {
    crate::forward! {
        DisplaySignal before &mut signal(value: u64, staging: &mut Staging) -> Result<()>;
        DisplayWait before &mut wait(value: u64, staging: &mut Staging) -> Result<()>;
    }
}
