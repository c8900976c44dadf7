//! Reuse of host memory: pinning takes a driver a millisecond or more, which is longer than a copy of the same bytes.

use super::host_buffer::{HostBuffer, HostStorage};
use crate::describe::PlainMutex;
use std::sync::{Arc, Weak};

/// Most bytes that a pool keeps for reuse.
const KEPT: usize = 256 << 20;

/// Blocks that are unused at the moment; for backends.
pub struct HostPool<B>(PlainMutex<Vec<B>>);

impl<B> Default for HostPool<B> {
    fn default() -> Self {
        Self(PlainMutex::default())
    }
}

impl<B: HostStorage + 'static> HostPool<B> {
    /// Returns `len` bytes of arbitrary content: a returned block, or a new one of that length from `make`.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn take<E>(self: &Arc<Self>, len: usize, make: impl FnOnce() -> Result<B, E>) -> Result<HostBuffer, E> {
        let found = {
            let mut blocks = self.0.lock();
            let sizes = blocks.iter().map(|b| b.bytes().len()).enumerate();
            let fitting = sizes.filter(|(_, size)| (len..=len.saturating_mul(2)).contains(size));
            fitting.min_by_key(|(_, size)| *size).map(|(at, _)| at).map(|at| blocks.swap_remove(at))
        };
        let block = match found {
            Some(block) => block,
            None => make()?,
        };
        Ok(HostBuffer::with_storage(Box::new(PooledBlock { block: Some(block), len, pool: Arc::downgrade(self) })))
    }

    fn give_back(&self, block: B) {
        let mut blocks = self.0.lock();
        let kept: usize = blocks.iter().map(|b| b.bytes().len()).sum();
        if kept.saturating_add(block.bytes().len()) <= KEPT {
            blocks.push(block);
        } else {
            // No driver calls are made under the lock.
            drop(blocks);
            drop(block);
        }
    }
}

/// A block in use; it returns to the pool, if the pool still exists.
struct PooledBlock<B: HostStorage + 'static> {
    /// `None` only during the drop.
    block: Option<B>,
    len: usize,
    pool: Weak<HostPool<B>>,
}

// SAFETY: a part of the block's bytes, which by its own guarantee stay where they are until it is dropped.
unsafe impl<B: HostStorage> HostStorage for PooledBlock<B> {
    fn bytes(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |b| b.bytes().get(..self.len).unwrap_or_default())
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.len;
        self.block.as_mut().map_or(&mut [], |b| b.bytes_mut().get_mut(..len).unwrap_or_default())
    }
}

impl<B: HostStorage> Drop for PooledBlock<B> {
    fn drop(&mut self) {
        if let Some((block, pool)) = self.block.take().zip(self.pool.upgrade()) {
            pool.give_back(block);
        }
    }
}
