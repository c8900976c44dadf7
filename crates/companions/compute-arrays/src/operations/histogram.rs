//! Counts of values in parts of a range.

use super::on_cpu;
use super::reduce::part;
use crate::array::Array;
use crate::cpu;
use crate::element::{ElementType, Float};
use crate::expr::{BoundProgram, Expr};
use crate::histogram::Histogram;
use crate::scratch::Scratch;
use crate::text::wgsl::{self, Wgsl};
use crate::text::{Dialect, HISTOGRAM, Text, parameters};
use bytemuck::{cast_slice, cast_slice_mut};
use interop_core::Result;

/// Work items of a group in WGSL, and the maximum number of groups.
const WIDTH: usize = 256;
const MOST_GROUPS: usize = 1024;

/// Parts of the range, and one for values outside.
const WORDS: usize = Histogram::BINS + 1;

impl<T: Float + Into<f64>> Expr<'_, T> {
    /// Counts the values from `low` to `high` in 65 536 equal parts; values outside and NaN are ignored. Rounding may
    /// move a value into a neighbouring part. Waits for the result.
    ///
    /// # Errors
    /// [`Error::InvalidInput`](interop_core::Error::InvalidInput) where the expression has no array;
    /// [`Error::Unsupported`](interop_core::Error::Unsupported) where the device lacks a type; errors of the backend.
    pub fn histogram(&self, low: T, high: T) -> Result<Histogram> {
        const OP: &str = "Expr::histogram";
        let place = (self.clone() - low) / (Expr::constant(high) - low);
        let bin = (place * Expr::<u32>::constant(Histogram::BINS as u32).cast::<T>()).cast::<u32>();
        let inside = self.clone().ge(low) & self.clone().le(high);
        let bin = inside.select(bin.min(Histogram::BINS as u32 - 1), Histogram::BINS as u32);
        let (bound, arrays, len) = bin.bound(None, OP)?;
        let mut counts = vec![0_u32; WORDS];
        if len > 0 {
            arrays.with_scratch(Scratch::Counts, WORDS * size_of::<u32>(), |kept| {
                let bytes = WORDS * size_of::<u32>();
                kept.memory.write(0, cast_slice(&counts))?;
                let target = part(kept.memory.as_mut(), bytes)?;
                match arrays.dialect() {
                    None => {
                        on_cpu::<u32>(&arrays, "histogram", (target, len), &bound, OP, move |program, out, leaves| {
                            cpu::count(program, leaves, len, out);
                        })?;
                    }
                    Some(dialect) => {
                        let kernel = arrays.kernel("pf_histogram", &text(dialect, &bound, len), dialect)?;
                        let target = target.with_items(len.div_ceil(WIDTH).min(MOST_GROUPS) * WIDTH);
                        let after = parameters(dialect, &bound, 1);
                        arrays.launch(kernel.as_ref(), target, &[dialect.count(len)], &bound.leaves, &after, OP)?;
                    }
                }
                kept.memory.read(0, cast_slice_mut(&mut counts))
            })?;
        }
        counts.truncate(Histogram::BINS);
        Ok(Histogram::of_counts(low.into(), high.into(), &counts))
    }
}

pub(super) fn text(dialect: Dialect, bound: &BoundProgram<'_>, len: usize) -> String {
    match dialect {
        Dialect::C(c) => Text::new(c, bound, ElementType::U32, len).map(bound).append(HISTOGRAM).finish(),
        Dialect::Wgsl => Wgsl::new(ElementType::U32).map(bound, 0, 1).append(wgsl::HISTOGRAM).finish(),
    }
}

impl<T: Float + Into<f64>> Array<T> {
    /// [`Expr::histogram`].
    ///
    /// # Errors
    /// Those of [`Expr::histogram`].
    pub fn histogram(&self, low: T, high: T) -> Result<Histogram> {
        self.expr().histogram(low, high)
    }
}
