//! Buffers that are kept to be used again.

use crate::sharing::Allocation;
use ash::vk;
use interop_core::HostBlock;
use interop_core::describe::PlainMutex;

/// Maximum number of objects that are kept for reuse.
const MOST: usize = 8;

/// Sizes are multiples of this, so that frames of similar size share buffers.
pub(crate) const GRAIN: usize = 4096;

/// A buffer that the host fills or reads.
pub(crate) struct Scratch {
    pub raw: vk::Buffer,
    /// Keeps the buffer alive.
    pub block: HostBlock,
}

/// Buffers that are free, each with the last submission that used it.
#[derive(Default)]
pub(crate) struct Pool(PlainMutex<Vec<(u64, Scratch)>>);

impl Pool {
    /// Returns a buffer of at least this many bytes, and not of many more, whose last submission has completed.
    pub(crate) fn take(&self, done: u64, len: usize) -> Option<Scratch> {
        let mut free = self.0.lock();
        let fits = |scratch: &Scratch| scratch.block.len() >= len && scratch.block.len() / 4 <= len.max(GRAIN);
        let at = free.iter().position(|(number, scratch)| *number <= done && fits(scratch))?;
        Some(free.swap_remove(at).1)
    }

    /// Keeps a buffer for reuse, and returns another one if there are too many.
    pub(crate) fn put(&self, number: u64, scratch: Scratch) -> Option<(u64, Scratch)> {
        let mut free = self.0.lock();
        free.push((number, scratch));
        (free.len() > MOST).then(|| free.remove(0))
    }
}

/// Offscreen memory of the device: the target of draws that are measured.
#[derive(Default)]
pub(crate) struct Target(pub PlainMutex<Option<(vk::Buffer, Allocation)>>);
