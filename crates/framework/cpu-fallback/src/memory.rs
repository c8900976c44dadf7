//! Memory of the CPU backend.

use crate::raw::{Bytes, ReadGuard, WriteGuard};
use interop_core::compute::MemoryDriver;
use interop_core::compute::{Access, Hazards};
use interop_core::{DeviceIdentity, Result};
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

/// The backend's own pages or an imported host block; kernels and maps access the bytes in place.
pub(crate) struct CpuMemory {
    pub(crate) bytes: Bytes,
    /// Operations of queues on the memory.
    pub(crate) hazards: Hazards,
    pub(crate) device: Arc<DeviceIdentity>,
}

/// Name of the memory in messages.
pub(crate) const WHAT: &str = "this memory";

interop_core::owned!(CpuMemory: DeviceIdentity, "memory", |memory| &memory.device);

impl CpuMemory {
    pub(crate) fn new(bytes: Bytes, device: &Arc<DeviceIdentity>) -> Self {
        Self { bytes, hazards: Hazards::default(), device: Arc::clone(device) }
    }

    /// Borrows bytes for reading, after queues have written them.
    pub(crate) fn reading(&self, range: Range<usize>, what: &dyn Display) -> Result<ReadGuard<'_>> {
        self.hazards.wait(&range, Access::Read);
        self.bytes.read(range, what)
    }

    /// Borrows bytes for writing, after queues have finished using them.
    pub(crate) fn writing(&mut self, range: Range<usize>, what: &dyn Display) -> Result<WriteGuard<'_>> {
        self.hazards.wait(&range, Access::Write);
        self.bytes.write(range, what)
    }
}

impl MemoryDriver for CpuMemory {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let bytes = self.reading(offset..offset + into.len(), &WHAT)?;
        into.copy_from_slice(&bytes);
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let mut bytes = self.writing(offset..offset + from.len(), &WHAT)?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        f(&self.reading(range, &WHAT)?)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        f(&mut self.writing(range, &WHAT)?)
    }

    fn release(&mut self) -> Result<()> {
        // Launches have finished when they return; the work of queues is tracked by its events.
        Ok(())
    }
}
