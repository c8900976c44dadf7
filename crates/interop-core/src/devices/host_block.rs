//! Host memory that two APIs share. The `unsafe` of raw addresses is kept in this file.

use super::borrows::{Borrow, Borrows, Holder, Member};
use super::ranges::{Access, check_range};
use crate::describe::error::{Error, Result};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::rc::Rc;

/// A block of host memory that both sides of a path address.
///
/// The block is kept alive by its owner (`Rc`), whoever drops first. Any number of backends and displays can take it,
/// its clones and its parts. They share one list ([`HostBlock::borrows`]) of who uses which bytes. So no two Rust
/// slices of one byte clash, and no command of a device runs on the bytes of a slice. What a *display* reads while
/// somebody writes is old or new, pixel by pixel: the path's ring and fences keep reads and writes apart. What it writes
/// ([`crate::Surface::download`]) is held until [`crate::Staging::wait`].
///
/// ```
/// use interop_core::HostBlock;
/// use interop_core::devices::borrows::Holder;
///
/// let block = HostBlock::allocate(100)?;
/// assert_eq!(block.len(), HostBlock::PAGE, "whole pages");
/// let mut writing = block.write(0..4, Holder::Guard, "example")?;
/// writing.fill(7);
/// assert!(block.read(0..8, Holder::Guard, "example").is_err(), "somebody writes these bytes");
/// drop(writing);
/// assert_eq!(*block.read(0..8, Holder::Guard, "example")?, [7, 7, 7, 7, 0, 0, 0, 0]);
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Clone)]
pub struct HostBlock {
    address: NonNull<u8>,
    len: usize,
    owner: Rc<dyn Any>,
    borrows: Borrows,
}

impl std::fmt::Debug for HostBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBlock").field("address", &self.address).field("len", &self.len).finish()
    }
}

/// Memory from the global allocator, freed when the last block that refers to it goes.
struct Pages {
    address: NonNull<u8>,
    layout: Layout,
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `address` came from `alloc_zeroed` with this very layout and is freed once, here.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}

impl HostBlock {
    /// Alignment and size granularity of [`HostBlock::allocate`], bytes: what `GL_AMD_pinned_memory` and
    /// `VK_EXT_external_memory_host` want on the usual systems.
    pub const PAGE: usize = 4096;

    /// Describes memory that somebody else owns, with a list of its own. A part of a block that is there already is
    /// [`HostBlock::part`], which shares the list.
    ///
    /// # Safety
    /// `address` must stay valid for reads and writes of `len` bytes, which have values, for as long as `owner` or a clone of
    /// it lives. Until then Rust references to those bytes are formed under a borrow of this block's list alone, and what
    /// else writes them does so while no slice of them lives.
    pub unsafe fn from_raw(address: NonNull<u8>, len: usize, owner: Rc<dyn Any>) -> Self {
        Self { address, len, owner, borrows: Borrows::new(len) }
    }

    /// Allocates zeroed pages that neither side owns; `len` is rounded up to whole pages.
    pub fn allocate(len: usize) -> Result<Self> {
        if len == 0 {
            return Err(Error::refused("0 bytes asked for; give at least 1"));
        }
        let layout = len
            .checked_next_multiple_of(Self::PAGE)
            .and_then(|n| Layout::from_size_align(n, Self::PAGE).ok())
            .ok_or_else(|| Error::refused(format!("{len} bytes are more than can be addressed")))?;
        // SAFETY: the layout's size is not zero.
        let address = unsafe { alloc_zeroed(layout) };
        let address = NonNull::new(address).ok_or_else(|| Error::Unavailable {
            what: format!("host memory of {} bytes", layout.size()),
            reason: "the allocator returned null".into(),
            hint: "Use a smaller surface or free memory.".into(),
        })?;
        let owner = Rc::new(Pages { address, layout });
        // SAFETY: the pages live as long as their owner, are zeroed, and nobody else knows them.
        Ok(unsafe { Self::from_raw(address, layout.size(), owner) })
    }

    /// Some of the block's bytes as a block, which keeps all of it alive. May be empty.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range that reaches outside.
    pub fn part(&self, range: Range<usize>) -> Result<Self> {
        check_range(&range, self.len)?;
        // SAFETY: the range was checked, so the address stays inside the block or one past its end.
        let address = unsafe { self.address.add(range.start) };
        Ok(Self { address, len: range.len(), owner: self.owner.clone(), borrows: self.borrows.part(&range) })
    }

    /// Makes the block keep `other` alive, too; the block's own owner is dropped first.
    #[must_use]
    pub fn keeping(self, other: Rc<dyn Any>) -> Self {
        Self { owner: Rc::new((self.owner.clone(), other)), ..self }
    }

    /// First byte. To look at the bytes, use [`HostBlock::read`] and [`HostBlock::write`].
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

    /// The bytes `range`, which nobody writes while the guard lives. Waits for commands of devices that use them.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range that reaches outside, and where somebody writes these bytes: it says who.
    pub fn read(&self, range: Range<usize>, holder: Holder) -> Result<BlockRead> {
        Ok(BlockRead(self.slice(range, Access::Read, holder)?))
    }

    /// The bytes `range`, which nobody else uses while the guard lives; else as [`HostBlock::read`].
    ///
    /// # Errors
    /// Those of [`HostBlock::read`], also where somebody reads the bytes.
    pub fn write(&self, range: Range<usize>, holder: Holder) -> Result<BlockWrite> {
        Ok(BlockWrite(self.slice(range, Access::Write, holder)?))
    }

    fn slice(&self, range: Range<usize>, access: Access, holder: Holder) -> Result<Slice> {
        check_range(&range, self.len)?;
        let borrow = self.borrows.slice(&range, access, holder, Member::ALONE).map_err(|h| h.refuse())?;
        Ok(Slice { _borrow: borrow, block: self.part(range)? })
    }
}

/// A part of a block that is borrowed for a guard.
struct Slice {
    // Let go of before the memory.
    _borrow: Borrow,
    block: HostBlock,
}

/// Bytes of a block, for reading; of [`HostBlock::read`].
pub struct BlockRead(Slice);

/// Bytes of a block, for reading and writing; of [`HostBlock::write`].
pub struct BlockWrite(Slice);

impl Slice {
    fn bytes(&self) -> &[u8] {
        // SAFETY: the part is valid and has values for its whole length by the contract of `from_raw`, and is kept alive.
        // The list holds it, so that nothing writes it but the guard itself.
        unsafe { std::slice::from_raw_parts(self.block.address.as_ptr(), self.block.len) }
    }
}

impl Deref for BlockRead {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl Deref for BlockWrite {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl DerefMut for BlockWrite {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; the list holds the part for writing, and `&mut self` makes this the guard's only slice.
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
        let kept = Rc::new(1);
        let block = HostBlock::allocate(1).unwrap().keeping(kept.clone());
        let part = block.part(0..1).unwrap();
        drop(block);
        assert_eq!(Rc::strong_count(&kept), 2);
        drop(part);
        assert_eq!(Rc::strong_count(&kept), 1);
    }
}
