//! Reductions on the CPU. Pieces and their order depend only on the length, so every number of threads gives the same
//! result.

use super::combine::Combine;
use super::interpret::{CpuProgram, Worker};
use super::{GRAIN, tasks};
use crate::element::Element;
use rayon::prelude::*;
use std::ops::Range;

/// Calls `f` for each piece of `0..len`, many at a time, with the piece's values; results in order.
fn pieces<T: Element, R: Send>(
    program: &CpuProgram,
    leaves: &[&[u8]],
    len: usize,
    f: impl Fn(Range<usize>, &[T]) -> R + Send + Sync,
) -> Vec<R> {
    let piece = |worker: &mut Worker<'_>, scratch: &mut Vec<T>, at: usize| {
        let range = at * GRAIN..(at * GRAIN + GRAIN).min(len);
        match worker.in_place(range.clone()) {
            Some(values) => f(range, values),
            None => {
                scratch.resize(range.len(), T::default());
                worker.run(range.start, scratch);
                f(range, scratch)
            }
        }
    };
    let (count, start) = (len.div_ceil(GRAIN), || (program.worker(leaves), Vec::new()));
    if tasks() > 1 {
        (0..count).into_par_iter().map_init(start, |(worker, scratch), at| piece(worker, scratch, at)).collect()
    } else {
        let (mut worker, mut scratch) = start();
        (0..count).map(|at| piece(&mut worker, &mut scratch, at)).collect()
    }
}

/// Combines all values of the program.
pub fn reduce<T: Element>(program: &CpuProgram, leaves: &[&[u8]], len: usize, combine: &dyn Combine<T>) -> T {
    combine.fold(&pieces(program, leaves, len, |_, values| combine.fold(values)))
}

/// Position and value of an extremum.
#[derive(Debug, Clone, Copy)]
pub struct Extremum<T> {
    pub value: T,
    pub index: u64,
}

/// Returns the first of the values that `combine` (min or max) keeps; if all are NaN, the first.
pub fn reduce_extremum<T: Element>(
    program: &CpuProgram,
    leaves: &[&[u8]],
    len: usize,
    combine: &dyn Combine<T>,
) -> Extremum<T> {
    let found = pieces(program, leaves, len, |range, values| {
        let value = combine.fold(values);
        let at = values.iter().position(|v| *v == value).unwrap_or(0);
        Extremum { value, index: (range.start + at) as u64 }
    });
    let values = found.iter().map(|e| e.value).collect::<Vec<_>>();
    let value = combine.fold(&values);
    let first = values.iter().position(|v| *v == value).unwrap_or(0);
    found.get(first).copied().unwrap_or(Extremum { value, index: 0 })
}
