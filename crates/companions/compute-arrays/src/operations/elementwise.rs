//! Evaluation of one value for each element.

use super::on_cpu;
use crate::context::Arrays;
use crate::cpu::{GRAIN, tasks};
use crate::element::Element;
use crate::expr::BoundProgram;
use crate::text::wgsl::{self, Wgsl};
use crate::text::{Dialect, ELEMENTWISE, Text, parameters};
use interop_core::{Result, Target};
use rayon::prelude::*;

const NAME: &str = "pf_elementwise";

pub(super) fn text<T: Element>(dialect: Dialect, bound: &BoundProgram<'_>, len: usize, per_item: usize) -> String {
    match dialect {
        Dialect::C(c) => {
            let text = Text::new(c, bound, T::KIND, len).map(bound);
            text.define("PF_PER_ITEM", per_item).append(ELEMENTWISE).finish()
        }
        Dialect::Wgsl => {
            let text = Wgsl::new(T::KIND).map(bound, 0, 0).define("PF_PER_ITEM", per_item);
            text.append(wgsl::ELEMENTWISE).finish()
        }
    }
}

/// Writes `len` values, more than 0, to a target of the same length.
pub(crate) fn run<T: Element>(
    arrays: &Arrays,
    bound: &BoundProgram<'_>,
    target: Target<'_>,
    len: usize,
    operation: &'static str,
) -> Result<()> {
    arrays.check_kinds(bound, operation)?;
    arrays.check_count(len, operation)?;
    let Some(dialect) = arrays.dialect() else {
        return on_cpu::<T>(arrays, NAME, (target, len), bound, operation, |program, out, leaves| {
            if tasks() > 1 {
                let pieces = out.par_chunks_mut(GRAIN).enumerate();
                pieces.for_each_init(|| program.worker(leaves), |worker, (at, out)| worker.run(at * GRAIN, out));
            } else {
                program.worker(leaves).run(0, out);
            }
        });
    };
    let per_item = arrays.per_item();
    let kernel = arrays.kernel(NAME, &text::<T>(dialect, bound, len, per_item), dialect)?;
    let target = target.with_items(len.div_ceil(per_item));
    arrays.launch(kernel.as_ref(), target, &[], &bound.leaves, &parameters(dialect, bound, 0), operation)
}
