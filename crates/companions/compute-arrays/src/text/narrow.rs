//! Limits of WGSL: counts have 32 bits, and the numbers of a launch are limited.

use crate::element::{Constant, Value};

/// Maximum number of numbers in a launch, as in `wgsl-kernel`.
pub(crate) const MOST_NUMBERS: usize = 32;

/// Maximum number of elements in a kernel: the sum of two counts has 32 bits. No memory with 32-bit addresses has as
/// many.
pub(crate) const MOST_ELEMENTS: usize = 1 << 30;

/// Returns a position or a step in elements, in two's complement.
pub(crate) fn place(value: i64) -> Constant {
    (value as u32).constant()
}
