//! Host memory that two APIs share. The `unsafe` code for raw addresses is confined to this file.

use super::borrows::{Borrow, Borrows, Holder, Member};
use super::host_bytes::{check_host_memory, no_host_memory};
use super::ranges::{Access, check_range};
use crate::describe::error::{Error, Result};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::Arc;

/// A block of host memory that both sides of a path access.
///
/// The block's owner (`Arc`) keeps it alive, whichever side is dropped first. Any number of backends and displays can
/// import it, its clones and its parts. They share one list ([`HostBlock::borrows`]) of who uses which bytes. So Rust
/// slices never overlap in conflict, and no device command runs on the bytes of a slice. A *display* that reads while a
/// writer is active sees each pixel either old or new; the slots and fences of the path keep reads and writes apart.
/// Bytes that a display writes ([`crate::Surface::download`]) stay borrowed until [`crate::Staging::wait`].
///
/// ```
/// use interop_core::HostBlock;
/// use interop_core::devices::borrows::Holder;
///
/// let block = HostBlock::allocate(100)?;
/// assert_eq!(block.len(), HostBlock::PAGE, "whole pages");
/// let mut writing = block.write(0..4, Holder::Guard)?;
/// writing.fill(7);
/// assert!(block.read(0..8, Holder::Guard).is_err(), "somebody writes these bytes");
/// drop(writing);
/// assert_eq!(*block.read(0..8, Holder::Guard)?, [7, 7, 7, 7, 0, 0, 0, 0]);
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Clone)]
pub struct HostBlock {
    address: NonNull<u8>,
    len: usize,
    owner: Arc<dyn Any + Send + Sync>,
    borrows: Borrows,
}

// SAFETY: slices of the bytes are formed only under the list, which every owner shares, and the owner may be dropped on any thread.
unsafe impl Send for HostBlock {}
// SAFETY: as above.
unsafe impl Sync for HostBlock {}

crate::debug_as!(HostBlock, |this| address = &this.address, len = &this.len);

/// Memory from the global allocator, freed when the last block that refers to it is dropped.
struct Pages {
    address: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the address is only freed, once.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `address` came from `alloc_zeroed` with this very layout and is freed once, here.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}

impl HostBlock {
    /// Alignment and size granularity of [`HostBlock::allocate`], in bytes, as `GL_AMD_pinned_memory` and
    /// `VK_EXT_external_memory_host` require on the usual systems.
    pub const PAGE: usize = 4096;

    /// Describes memory with another owner, with a list of its own. For a part of an existing block use
    /// [`HostBlock::part`], which shares the list.
    ///
    /// # Safety
    /// `address` must stay valid for reads and writes of `len` initialised bytes for as long as `owner` or a clone of
    /// it lives. Until then, Rust references to those bytes are formed only under a borrow of this block's list, and
    /// any other writer writes them only while no slice of them lives.
    pub unsafe fn from_raw(address: NonNull<u8>, len: usize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Self { address, len, owner, borrows: Borrows::new(len) }
    }

    /// Allocates zeroed pages that belong to neither side; `len` is rounded up to whole pages.
    pub fn allocate(len: usize) -> Result<Self> {
        if len == 0 {
            return Err(Error::refused("0 bytes requested; give at least 1"));
        }
        let layout = len
            .checked_next_multiple_of(Self::PAGE)
            .and_then(|n| Layout::from_size_align(n, Self::PAGE).ok())
            .ok_or_else(|| Error::refused(format!("{len} bytes exceed the address space")))?;
        check_host_memory(layout.size())?;
        // SAFETY: the layout's size is not zero.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) });
        let address = address.ok_or_else(|| no_host_memory(len, "the allocator returned null"))?;
        let owner = Arc::new(Pages { address, layout });
        // SAFETY: the pages live as long as their owner, are zeroed, and no other code has their address.
        Ok(unsafe { Self::from_raw(address, layout.size(), owner) })
    }

    /// Returns some of the block's bytes as a block, which keeps all of it alive. The part may be empty.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range that reaches outside the block.
    pub fn part(&self, range: Range<usize>) -> Result<Self> {
        check_range(&range, self.len)?;
        // SAFETY: the range was checked, so the address stays inside the block or one past its end.
        let address = unsafe { self.address.add(range.start) };
        Ok(Self { address, len: range.len(), owner: self.owner.clone(), borrows: self.borrows.part(&range) })
    }

    /// Makes the block keep `other` alive, too. The block's own owner is dropped first.
    #[must_use]
    pub fn keeping(self, other: Arc<dyn Any + Send + Sync>) -> Self {
        Self { owner: Arc::new((self.owner.clone(), other)), ..self }
    }

    /// Address of the first byte. To access the bytes, use [`HostBlock::read`] and [`HostBlock::write`].
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty)] // parts may be, and say so by it
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the registry of the bytes' users, for backends and displays that form slices or submit commands. Ranges
    /// count from this block's start.
    pub fn borrows(&self) -> &Borrows {
        &self.borrows
    }

    /// Borrows the bytes `range` for reading; they are not written while the guard lives. Waits for device commands
    /// that use them.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range that reaches outside, and where the bytes are being written; the error names
    /// the holder.
    pub fn read(&self, range: Range<usize>, holder: Holder) -> Result<BlockReadGuard> {
        Ok(BlockReadGuard(self.slice(range, Access::Read, holder)?))
    }

    /// Borrows the bytes `range` for reading and writing; they have no other user while the guard lives. Otherwise like
    /// [`HostBlock::read`].
    ///
    /// # Errors
    /// Those of [`HostBlock::read`], and also where the bytes are being read.
    pub fn write(&self, range: Range<usize>, holder: Holder) -> Result<BlockWriteGuard> {
        Ok(BlockWriteGuard(self.slice(range, Access::Write, holder)?))
    }

    fn slice(&self, range: Range<usize>, access: Access, holder: Holder) -> Result<Slice> {
        check_range(&range, self.len)?;
        let borrow = self.borrows.slice(&range, access, holder, Member::ALONE).map_err(|h| h.refuse())?;
        Ok(Slice { _borrow: borrow, block: self.part(range)? })
    }
}

struct Slice {
    // Dropped before the memory.
    _borrow: Borrow,
    block: HostBlock,
}

/// Guard of [`HostBlock::read`]: bytes of a block, for reading.
pub struct BlockReadGuard(Slice);

/// Guard of [`HostBlock::write`]: bytes of a block, for reading and writing.
pub struct BlockWriteGuard(Slice);

impl Slice {
    fn bytes(&self) -> &[u8] {
        // SAFETY: by the contract of `from_raw`, the whole part is valid and initialised, and it is kept alive. The
        // list holds its borrow, so only the guard itself writes it.
        unsafe { std::slice::from_raw_parts(self.block.address.as_ptr(), self.block.len) }
    }
}

impl Deref for BlockReadGuard {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl Deref for BlockWriteGuard {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl DerefMut for BlockWriteGuard {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; the list holds the part for writing, and `&mut self` makes this the guard's only
        // slice.
        unsafe { std::slice::from_raw_parts_mut(self.0.block.address.as_ptr(), self.0.block.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_bytes_and_borrows() {
        let block = HostBlock::allocate(100).unwrap();
        let part = block.part(64..128).unwrap();
        let write = |block: &HostBlock, range| block.write(range, Holder::Guard);
        assert!(block.part(0..HostBlock::PAGE + 1).is_err() && part.part(0..65).is_err());
        write(&part, 1..3).unwrap().fill(7);
        let seen = block.read(60..70, Holder::Guard).unwrap();
        assert_eq!(*seen, [0, 0, 0, 0, 0, 7, 7, 0, 0, 0]);
        let error = write(&part, 5..6).err().unwrap().to_string();
        assert!(error.contains("guard of HostBlock"), "{error}");
        assert!(write(&part, 6..64).is_ok());
        drop(block);
        drop(part);
        assert_eq!(seen[5], 7, "a guard keeps the memory");
    }

    #[test]
    fn a_block_keeps_what_it_is_told_to() {
        let kept = Arc::new(1);
        let block = HostBlock::allocate(1).unwrap().keeping(kept.clone());
        let part = block.part(0..1).unwrap();
        drop(block);
        assert_eq!(Arc::strong_count(&kept), 2);
        drop(part);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
