//! Ranges of bytes, and which accesses to them conflict.

use crate::describe::error::{Error, Result};
use std::ops::Range;

/// Access to bytes: read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The bytes are only read.
    Read,
    /// The bytes are written, and may be read as well.
    Write,
}

impl Access {
    /// True where two accesses to one byte must be ordered: all except two reads.
    pub fn clashes(self, other: Self) -> bool {
        self == Self::Write || other == Self::Write
    }
}

/// Returns the range of `len` bytes from `offset` on. One that saturates lies outside every memory, and is refused as
/// such.
pub fn range_of(offset: usize, len: usize) -> Range<usize> {
    offset..offset.saturating_add(len)
}

/// True where both ranges have a byte in common. An empty range has none.
pub fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start.max(b.start) < a.end.min(b.end)
}

/// True where `outer` contains all bytes of `inner`.
pub fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the shortest range that covers both.
pub fn hull(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

/// Converts `inner`, which counts from the start of `outer`, to the memory that `outer` is a range of; cut off at the
/// end of `outer`.
pub fn within(outer: &Range<usize>, inner: &Range<usize>) -> Range<usize> {
    let place = |at: usize| outer.start.saturating_add(at).min(outer.end);
    place(inner.start)..place(inner.end)
}

/// Checks that `range` lies inside `len` bytes; for backends.
pub fn check_range(range: &Range<usize>, len: usize) -> Result<()> {
    if range.start > range.end || range.end > len {
        return Err(Error::refused(format!(
            "bytes {}..{} reach outside the memory of {len} bytes",
            range.start, range.end
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_common_are_an_overlap() {
        for (a, b, expected) in [(0..4, 3..5, true), (0..4, 4..5, false), (0..9, 2..3, true), (1..2, 5..6, false)] {
            assert_eq!((overlap(&a, &b), overlap(&b, &a)), (expected, expected), "{a:?} {b:?}");
        }
        assert!(!overlap(&(0..9), &(5..5)), "an empty range has no bytes");
    }

    #[test]
    fn a_part_of_a_part_stays_inside() {
        assert_eq!(within(&(10..20), &(2..5)), 12..15);
        assert_eq!(within(&(10..20), &(2..usize::MAX)), 12..20);
        assert!(within(&(10..20), &(11..30)).is_empty());
    }

    #[test]
    fn only_reads_go_beside_each_other() {
        use Access::{Read, Write};
        assert!(!Read.clashes(Read) && Read.clashes(Write) && Write.clashes(Read) && Write.clashes(Write));
    }
}
