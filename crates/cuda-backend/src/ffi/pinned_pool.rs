//! Pinned memory used again: the driver takes a millisecond and more to pin what a copy fills in less.

use super::host_memory::Pinned;
use super::{Failure, Queue};
use interop_core::HostBuffer;
use interop_core::compute::HostStorage;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Bytes that are kept for later, at most.
const KEPT: usize = 256 << 20;

/// Blocks that nobody uses now.
#[derive(Default)]
pub struct PinnedPool(Mutex<Vec<Pinned>>);

impl PinnedPool {
    fn lock(&self) -> MutexGuard<'_, Vec<Pinned>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `len` bytes, more than 0, of arbitrary content.
    pub fn take(self: &Arc<Self>, queue: &Arc<Queue>, len: usize) -> Result<HostBuffer, Failure> {
        let found = {
            let mut blocks = self.lock();
            let sizes = blocks.iter().map(|b| b.as_slice().len()).enumerate();
            let fitting = sizes.filter(|(_, size)| (len..=len.saturating_mul(2)).contains(size));
            fitting.min_by_key(|(_, size)| *size).map(|(at, _)| at).map(|at| blocks.swap_remove(at))
        };
        let block = match found {
            Some(block) => block,
            None => Pinned::new(queue, len)?,
        };
        Ok(HostBuffer::with_storage(Box::new(Lent { block: Some(block), len, pool: Arc::downgrade(self) })))
    }

    fn give_back(&self, block: Pinned) {
        let mut blocks = self.lock();
        let kept: usize = blocks.iter().map(|b| b.as_slice().len()).sum();
        if kept.saturating_add(block.as_slice().len()) <= KEPT {
            blocks.push(block);
        } else {
            // Driver calls are not made under the lock.
            drop(blocks);
            drop(block);
        }
    }
}

/// A block in use; goes back to the pool, if that is still there.
struct Lent {
    /// `None` only while it is dropped.
    block: Option<Pinned>,
    len: usize,
    pool: Weak<PinnedPool>,
}

// SAFETY: a part of pinned memory, which stays where it is and is this value's own until it is dropped.
unsafe impl HostStorage for Lent {
    fn bytes(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |b| &b.as_slice()[..self.len])
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.len;
        self.block.as_mut().map_or(&mut [], |b| &mut b.bytes()[..len])
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some((block, pool)) = self.block.take().zip(self.pool.upgrade()) {
            pool.give_back(block);
        }
    }
}
