//! Memory of the backend's double.

use crate::faults::Faults;
use crate::step::Step;
use interop_core::{ComputeMemory, Result, SyncKind};
use std::any::Any;
use std::ops::Range;

/// The backend's memory, wrapped.
pub(crate) struct MemoryDouble {
    pub inner: Box<dyn ComputeMemory>,
    pub faults: Faults,
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

    fn view(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.faults.check(Step::View)?;
        self.inner.view(range, f)
    }

    fn fill(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.inner.fill(range, f)?;
        self.faults.check(Step::FillMemory)
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
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
        self.faults.check(Step::Release)
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self.inner.as_any_mut()
    }
}
