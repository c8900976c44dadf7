//! Limits of WGSL: counts have 32 bits, and a launch has so many numbers.

use crate::element::{Constant, Value};

/// Numbers that a launch passes: as many as `wgsl-kernel` has places for.
pub(crate) const MOST_NUMBERS: usize = 32;

/// Elements that a kernel counts: sums of two counts have 32 bits. No memory that 32 bits address has as many.
pub(crate) const MOST_ELEMENTS: usize = 1 << 30;

/// A place or a step among elements, in two's complement.
pub(crate) fn place(value: i64) -> Constant {
    (value as u32).constant()
}
