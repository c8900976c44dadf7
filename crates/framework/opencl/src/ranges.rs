//! Ranges of bytes, from where they begin and how many they are.

use std::ops::Range;

pub fn range_of(offset: usize, len: usize) -> Range<usize> {
    // A range that saturates lies outside every memory and is refused as such.
    offset..offset.saturating_add(len)
}
