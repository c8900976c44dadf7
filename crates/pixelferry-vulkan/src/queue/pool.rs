//! Buffers that are kept to be used again.

use crate::sharing::Allocation;
use ash::vk;
use interop_core::HostBlock;
use std::cell::RefCell;

/// Most objects that wait to be used again.
const MOST: usize = 8;

/// Sizes are multiples of this, so that frames of about one size share buffers.
pub(crate) const GRAIN: usize = 4096;

/// A buffer that the host fills or reads.
pub(crate) struct Scratch {
    pub raw: vk::Buffer,
    /// Keeps the buffer.
    pub block: HostBlock,
}

/// Those that are not in use, each with the submission that used it last.
#[derive(Default)]
pub(crate) struct Pool(RefCell<Vec<(u64, Scratch)>>);

impl Pool {
    /// One of at least so many bytes, and not of many more, whose last submission is done.
    pub(crate) fn take(&self, done: u64, len: usize) -> Option<Scratch> {
        let mut free = self.0.borrow_mut();
        let fits = |scratch: &Scratch| scratch.block.len() >= len && scratch.block.len() / 4 <= len.max(GRAIN);
        let at = free.iter().position(|(number, scratch)| *number <= done && fits(scratch))?;
        Some(free.swap_remove(at).1)
    }

    /// Keeps one, and returns another where there are too many.
    pub(crate) fn put(&self, number: u64, scratch: Scratch) -> Option<(u64, Scratch)> {
        let mut free = self.0.borrow_mut();
        free.push((number, scratch));
        (free.len() > MOST).then(|| free.remove(0))
    }
}

/// Memory of the device that nobody looks at, where draws go that are measured.
#[derive(Default)]
pub(crate) struct Target(pub RefCell<Option<(vk::Buffer, Allocation)>>);
