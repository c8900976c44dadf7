//! Mapped buffers for copies to and from the host, reused when the queue no longer uses them.

use crate::context::device_state::{BUFFER_USAGE, DeviceState};
use crate::queue::pool::GRAIN;
pub(crate) use crate::queue::pool::Scratch;
use ash::vk;
use interop_core::devices::borrows::Holder;
use interop_core::{HostBlock, Result};
use std::sync::Arc;

impl Scratch {
    fn new(shared: &DeviceState, len: usize) -> Result<Self> {
        let bytes = (len as u64).next_multiple_of(GRAIN as u64);
        let (made, address) = shared.sharing.mapped_buffer(bytes, BUFFER_USAGE)?;
        let raw = made.buffer()?;
        // SAFETY: the allocation, which stays mapped and was zeroed, goes with the block; nobody else maps it.
        let block = unsafe { HostBlock::from_raw(address, bytes as usize, Arc::new(made)) };
        Ok(Self { raw, block })
    }

    /// Returns a free buffer of at least this many bytes, with undefined content.
    pub(crate) fn take(shared: &DeviceState, len: usize) -> Result<Self> {
        match shared.pool.take(shared.submissions.done(), len) {
            Some(scratch) => Ok(scratch),
            None => Self::new(shared, len),
        }
    }

    /// Returns the buffer to the pool when the submission has completed.
    pub(crate) fn give_back(self, shared: &DeviceState, number: u64) {
        if let Some((number, oldest)) = shared.pool.put(number, self) {
            shared.submissions.retire_at(number, Box::new(oldest.block));
        }
    }

    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Lets the host write the first bytes.
    pub(crate) fn fill(&self, len: usize, f: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        f(&mut self.block.write(0..len, Holder::Staging)?)
    }

    /// Lets the host read the first bytes.
    pub(crate) fn read(&self, len: usize, f: impl FnOnce(&[u8])) -> Result<()> {
        f(&self.block.read(0..len, Holder::Staging)?);
        Ok(())
    }
}
