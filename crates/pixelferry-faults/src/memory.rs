//! Memory of the backend's double.

use crate::faults::Faults;
use crate::step::Step;
use interop_core::{Arg, ComputeMemory, Error, Result, SyncKind, Target};
use std::ops::Range;

/// The backend's memory, wrapped.
pub(crate) struct MemoryDouble {
    pub inner: Box<dyn ComputeMemory>,
    pub faults: Faults,
}

/// Finds the wrapped memory, and names the device where a memory is none of the double's.
#[derive(Clone)]
pub(crate) struct Wrapped {
    pub device: String,
}

impl Wrapped {
    fn foreign(&self, operation: &'static str) -> Error {
        Error::Foreign { operation, object: "memory", device: self.device.clone() }
    }

    pub fn memory<'m>(&self, memory: &'m dyn ComputeMemory, operation: &'static str) -> Result<&'m dyn ComputeMemory> {
        let double = memory.downcast_ref::<MemoryDouble>();
        double.map(|m| m.inner.as_ref()).ok_or_else(|| self.foreign(operation))
    }

    pub fn memory_mut<'m>(
        &self,
        memory: &'m mut dyn ComputeMemory,
        operation: &'static str,
    ) -> Result<&'m mut dyn ComputeMemory> {
        let double = memory.downcast_mut::<MemoryDouble>();
        double.map(|m| m.inner.as_mut()).ok_or_else(|| self.foreign(operation))
    }

    pub fn target<'m>(&self, target: Target<'m>, operation: &'static str) -> Result<Target<'m>> {
        target.within(|memory| self.memory_mut(memory, operation))
    }

    pub fn args<'m>(&self, args: &[Arg<'m>], operation: &'static str) -> Result<Vec<Arg<'m>>> {
        let arg = |arg: &Arg<'m>| match *arg {
            Arg::Memory(memory) => self.memory(memory, operation).map(Arg::Memory),
            other => Ok(other),
        };
        args.iter().map(arg).collect()
    }
}

impl ComputeMemory for MemoryDouble {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.inner.read(offset, into)?;
        self.faults.check(Step::Read)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.inner.write(offset, from)?;
        self.faults.check(Step::Write)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.faults.check(Step::MapRead)?;
        self.inner.map_read(range, f)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.inner.map_write(range, f)?;
        self.faults.check(Step::MapWrite)
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        self.faults.check(Step::SetSync)?;
        self.inner.set_sync(kind)
    }

    fn acquire(&mut self) -> Result<()> {
        self.faults.check(Step::Acquire)?;
        self.inner.acquire()
    }

    fn submit(&mut self) -> Result<()> {
        self.inner.submit()?;
        self.faults.check(Step::Submit)
    }

    fn release(&mut self) -> Result<()> {
        self.inner.release()?;
        self.faults.check(Step::Release)
    }

    fn release_in_queue(&mut self) -> Result<()> {
        self.inner.release_in_queue()?;
        self.faults.check(Step::ReleaseInQueue)
    }
}
