//! Host memory by address. All `unsafe` code of this crate is in this file.
//!
//! Two memories may be made from one [`HostBlock`], so the borrow checker alone cannot separate a `&mut` from other
//! references to the same bytes. Every reference is therefore entered in the block's list, which all backends and
//! displays share; a conflicting one is an error.
//!
//! The threads of queues also use memory of the backend's own; each allocation has such a list. The order between
//! queues already separates accesses ([`interop_core::compute::Hazards`]); the list keeps the references sound even if
//! that fails.

use interop_core::compute::{Access, check_host_memory, check_range, no_host_memory};
use interop_core::devices::borrows::{Borrow, Borrows, Holder, Member};
use interop_core::{Error, HostBlock, Result, SharedHandle};
use std::cell::UnsafeCell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

/// One page of [`Pages`].
#[derive(Clone, Copy, bytemuck::Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; HostBlock::PAGE]);

/// An allocation of the backend's own, usable on any thread.
pub(crate) struct Pages {
    cells: Box<[UnsafeCell<Page>]>,
    len: usize,
    borrows: Borrows,
}

// SAFETY: the cells are accessed only through guards, whose list admits one writer or any number of readers of a byte.
unsafe impl Sync for Pages {}

impl Pages {
    /// Allocates zeroed pages.
    pub(crate) fn allocate(len: usize) -> Result<Arc<Self>> {
        check_host_memory(len)?;
        let cells = bytemuck::allocation::try_zeroed_slice_box(len.div_ceil(HostBlock::PAGE));
        let cells = cells.map_err(|()| no_host_memory(len, "the allocator returned null"))?;
        Ok(Arc::new(Self { cells, len, borrows: Borrows::new(len) }))
    }

    fn address(&self) -> *mut u8 {
        UnsafeCell::raw_get(self.cells.as_ptr()).cast()
    }
}

#[derive(Clone)]
enum Store {
    /// Memory bound to this thread.
    Block(HostBlock),
    /// Memory for any thread.
    Own(Arc<Pages>),
}

/// Bytes at the start of host memory.
pub(crate) struct Bytes {
    store: Store,
    len: usize,
}

impl From<Arc<Pages>> for Bytes {
    fn from(pages: Arc<Pages>) -> Self {
        Self { len: pages.len, store: Store::Own(pages) }
    }
}

impl Bytes {
    /// Allocates zeroed pages bound to this thread. Fails for 0 bytes.
    pub(crate) fn allocate(len: usize) -> Result<Self> {
        Ok(Self { store: Store::Block(HostBlock::allocate(len)?), len })
    }

    /// Takes the first `len` bytes of a host block, at least 1.
    pub(crate) fn of_block(block: HostBlock, len: usize) -> Result<Self> {
        if len == 0 {
            return Err(Error::refused("0 bytes of a host block requested; give at least 1"));
        }
        SharedHandle::check_room(block.len() as u64, len as u64)?;
        Ok(Self { store: Store::Block(block), len })
    }

    /// Returns another reference to the same bytes.
    pub(crate) fn share(&self) -> Self {
        Self { store: self.store.clone(), len: self.len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the address of the first byte. Code that uses it must stay clear of the guards' bytes.
    pub(crate) fn address(&self) -> *mut u8 {
        match &self.store {
            Store::Block(block) => block.address().as_ptr(),
            Store::Own(pages) => pages.address(),
        }
    }

    /// Returns the host block, if the bytes belong to one.
    pub(crate) fn block(&self) -> Option<&HostBlock> {
        match &self.store {
            Store::Block(block) => Some(block),
            Store::Own(_) => None,
        }
    }

    /// Returns the backend's own pages, if the bytes belong to some.
    pub(crate) fn pages(&self) -> Option<&Arc<Pages>> {
        match &self.store {
            Store::Block(_) => None,
            Store::Own(pages) => Some(pages),
        }
    }

    /// Borrows `range` for reading; `what` names this memory in the error for a conflict.
    pub(crate) fn read(&self, range: Range<usize>, what: &dyn Display) -> Result<ReadGuard<'_>> {
        Ok(ReadGuard(self.enter(range, Access::Read, what)?))
    }

    /// Borrows `range` for writing.
    pub(crate) fn write(&mut self, range: Range<usize>, what: &dyn Display) -> Result<WriteGuard<'_>> {
        Ok(WriteGuard(self.enter(range, Access::Write, what)?))
    }

    fn enter(&self, range: Range<usize>, access: Access, what: &dyn Display) -> Result<BytesEntry<'_>> {
        check_range(&range, self.len)?;
        let borrows = match &self.store {
            Store::Block(block) => block.borrows(),
            Store::Own(pages) => &pages.borrows,
        };
        let borrow = borrows.slice(&range, access, Holder::Cpu, Member::ALONE).map_err(|held| {
            let does = if access == Access::Write { "write" } else { "read" };
            Error::refused(format!("cannot {does} {what}: {}", held.0))
        })?;
        let (pointer, len) = (self.address().wrapping_add(range.start), range.len());
        Ok(BytesEntry { pointer, len, _borrow: borrow, _bytes: PhantomData })
    }
}

/// Bytes entered in the list of their allocation until this is dropped.
struct BytesEntry<'a> {
    pointer: *mut u8,
    len: usize,
    _borrow: Borrow,
    _bytes: PhantomData<&'a [u8]>,
}

/// Borrowed bytes that are not written while this lives.
pub(crate) struct ReadGuard<'a>(BytesEntry<'a>);

/// Borrowed bytes that have no other user while this lives.
pub(crate) struct WriteGuard<'a>(BytesEntry<'a>);

impl Deref for ReadGuard<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range was checked against the block or the pages, which the guard's borrow of `Bytes` keeps
        // alive. A block is valid and initialised for its whole length by the contract of `HostBlock`; pages were
        // zeroed. The list holds this range as shared, so none of it is written.
        unsafe { std::slice::from_raw_parts(self.0.pointer, self.0.len) }
    }
}

impl Deref for WriteGuard<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: as for `ReadGuard`; the list holds this range as exclusive.
        unsafe { std::slice::from_raw_parts(self.0.pointer, self.0.len) }
    }
}

impl DerefMut for WriteGuard<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `ReadGuard`; the list holds this range as exclusive, and `&mut self` makes this the only
        // reference made from this guard.
        unsafe { std::slice::from_raw_parts_mut(self.0.pointer, self.0.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_names(len: usize) -> (Bytes, Bytes) {
        let a = Bytes::allocate(len).unwrap();
        let b = a.share();
        (a, b)
    }

    #[test]
    fn overlapping_references_are_refused_and_the_list_is_cleared() {
        let (mut a, mut b) = two_names(64);
        {
            let _writing = a.write(0..32, &"a test").unwrap();
            assert!(b.read(31..33, &"a test").is_err());
            assert!(b.write(0..1, &"a test").is_err());
            assert!(b.read(32..64, &"a test").is_ok());
            assert!(b.write(5..5, &"a test").is_ok());
        }
        assert!(b.write(0..64, &"a test").is_ok());
        let (_one, _two) = (a.read(0..64, &"a test").unwrap(), b.read(0..64, &"a test").unwrap());
    }

    #[test]
    fn pages_are_guarded_across_threads() {
        let pages = Pages::allocate(5000).unwrap();
        let mut here = Bytes::from(pages.clone());
        assert_eq!((here.len(), here.read(0..5000, &"a test").unwrap().iter().max()), (5000, Some(&0)));
        let there = move || Bytes::from(pages).write(0..1, &"a test").is_err();
        let writing = here.write(0..5000, &"a test").unwrap();
        assert!(std::thread::spawn(there).join().unwrap());
        drop(writing);
        assert!(here.write(0..5000, &"a test").is_ok());
        assert!(Pages::allocate(usize::MAX).is_err());
    }

    #[test]
    fn a_panic_frees_the_bytes() {
        let (mut a, mut b) = two_names(8);
        let outcome = interop_core::describe::panics::catch(|| {
            let _writing = a.write(0..8, &"a test").unwrap();
            panic!("on purpose");
        });
        assert!(outcome.is_err());
        assert!(b.write(0..8, &"a test").is_ok());
    }

    #[test]
    fn ranges_are_checked() {
        let mut a = Bytes::allocate(8).unwrap();
        assert!(a.read(0..9, &"a test").is_err());
        #[allow(clippy::reversed_empty_ranges)]
        let backwards = 5..4;
        assert!(a.write(backwards, &"a test").is_err());
        assert!(Bytes::allocate(0).is_err());
        assert!(Bytes::allocate(usize::MAX).is_err());
    }
}
