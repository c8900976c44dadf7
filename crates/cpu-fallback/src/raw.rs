//! Host memory by address. All the `unsafe` of this crate is in this file.
//!
//! Two memories may be made from one [`HostBlock`], so the borrow checker alone cannot keep a `&mut` apart from
//! other references to the same bytes. Every reference is therefore entered in a list of the thread, and one that
//! would clash is an error. The list can be per thread because a `HostBlock` cannot leave its thread.

use interop_core::compute::check_range;
use interop_core::{Error, HostBlock, Result};
use std::cell::RefCell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

/// Bytes at the start of a block of host memory.
pub(crate) struct Bytes {
    block: HostBlock,
    len: usize,
}

impl Bytes {
    /// Zeroed pages of our own. Refuses 0 bytes.
    pub(crate) fn allocate(len: usize) -> Result<Self> {
        Ok(Self { block: HostBlock::allocate(len)?, len })
    }

    /// The first `len` bytes of somebody else's memory, at least 1.
    pub(crate) fn of_block(block: HostBlock, len: usize, operation: &'static str) -> Result<Self> {
        if len == 0 || len > block.len() {
            return Err(Error::invalid(operation, format!("{len} bytes asked of a host block of {}", block.len())));
        }
        Ok(Self { block, len })
    }

    /// Another name for the same bytes.
    pub(crate) fn share(&self) -> Self {
        Self { block: self.block.clone(), len: self.len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn block(&self) -> &HostBlock {
        &self.block
    }

    /// Shared access to `range`; `what` names this memory in the message of a clash.
    pub(crate) fn read(
        &self,
        range: Range<usize>,
        operation: &'static str,
        what: &dyn Display,
    ) -> Result<ReadGuard<'_>> {
        Ok(ReadGuard { access: self.enter(range, false, operation, what)?, _bytes: PhantomData })
    }

    /// Exclusive access to `range`.
    pub(crate) fn write(
        &mut self,
        range: Range<usize>,
        operation: &'static str,
        what: &dyn Display,
    ) -> Result<WriteGuard<'_>> {
        Ok(WriteGuard { access: self.enter(range, true, operation, what)?, _bytes: PhantomData })
    }

    fn enter(
        &self,
        range: Range<usize>,
        exclusive: bool,
        operation: &'static str,
        what: &dyn Display,
    ) -> Result<Access> {
        check_range(&range, self.len, operation)?;
        let pointer = self.block.address().as_ptr().wrapping_add(range.start);
        let entry = Entry { start: pointer.addr(), end: pointer.addr() + range.len(), exclusive };
        let free = IN_USE.with_borrow_mut(|list| {
            let free = !list.iter().any(|other| other.clashes(&entry));
            if free {
                list.push(entry);
            }
            free
        });
        if !free {
            let (takes, uses) = if exclusive { ("write", "uses") } else { ("read", "writes") };
            return Err(Error::invalid(
                operation,
                format!(
                    "cannot {takes} {what}: this or an enclosing call {uses} the same bytes; \
                     give memory that does not overlap"
                ),
            ));
        }
        Ok(Access { pointer, len: range.len(), entry })
    }
}

thread_local! {
    /// Bytes that this thread has references to right now.
    static IN_USE: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: usize,
    end: usize,
    exclusive: bool,
}

impl Entry {
    fn clashes(&self, other: &Self) -> bool {
        // An empty range overlaps nothing, so its bounds must not count as a point inside another one.
        let overlap = self.start.max(other.start) < self.end.min(other.end);
        overlap && (self.exclusive || other.exclusive)
    }
}

/// An entry in the list, taken off when it is dropped. Not `Send`, as the list is the thread's own.
struct Access {
    pointer: *mut u8,
    len: usize,
    entry: Entry,
}

impl Drop for Access {
    fn drop(&mut self) {
        // While the thread ends the list may be gone already; nothing can clash with it then.
        let _ = IN_USE.try_with(|list| {
            let mut list = list.borrow_mut();
            if let Some(at) = list.iter().position(|e| *e == self.entry) {
                list.swap_remove(at);
            }
        });
    }
}

/// Bytes that nobody writes while this lives.
pub(crate) struct ReadGuard<'a> {
    access: Access,
    _bytes: PhantomData<&'a [u8]>,
}

/// Bytes that nobody else touches while this lives.
pub(crate) struct WriteGuard<'a> {
    access: Access,
    _bytes: PhantomData<&'a mut [u8]>,
}

impl Deref for ReadGuard<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the range was checked against the block, which the guard's borrow of `Bytes` keeps alive and which
        // is valid and initialised for its whole length by the contract of `HostBlock`. The list holds this range as
        // shared, so no `&mut` to any of it exists in this crate; other owners stay away during the compute side's
        // turn by the same contract.
        unsafe { std::slice::from_raw_parts(self.access.pointer, self.access.len) }
    }
}

impl Deref for WriteGuard<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: as for `ReadGuard`; the list holds this range as exclusive.
        unsafe { std::slice::from_raw_parts(self.access.pointer, self.access.len) }
    }
}

impl DerefMut for WriteGuard<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `ReadGuard`; the list holds this range as exclusive, and `&mut self` makes this the only
        // reference made from this guard.
        unsafe { std::slice::from_raw_parts_mut(self.access.pointer, self.access.len) }
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
            let _writing = a.write(0..32, "test", &"a").unwrap();
            assert!(b.read(31..33, "test", &"b").is_err());
            assert!(b.write(0..1, "test", &"b").is_err());
            assert!(b.read(32..64, "test", &"b").is_ok());
            assert!(b.write(5..5, "test", &"nothing").is_ok());
        }
        assert!(b.write(0..64, "test", &"b").is_ok());
        let (_one, _two) = (a.read(0..64, "test", &"a").unwrap(), b.read(0..64, "test", &"b").unwrap());
    }

    #[test]
    fn a_panic_frees_the_bytes() {
        let (mut a, mut b) = two_names(8);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _writing = a.write(0..8, "test", &"a").unwrap();
            panic!("on purpose");
        }));
        assert!(outcome.is_err());
        assert!(b.write(0..8, "test", &"b").is_ok());
    }

    #[test]
    fn ranges_are_checked() {
        let mut a = Bytes::allocate(8).unwrap();
        assert!(a.read(0..9, "test", &"a").is_err());
        #[allow(clippy::reversed_empty_ranges)]
        let backwards = 5..4;
        assert!(a.write(backwards, "test", &"a").is_err());
        assert!(Bytes::allocate(0).is_err());
        assert!(Bytes::allocate(usize::MAX).is_err());
    }
}
