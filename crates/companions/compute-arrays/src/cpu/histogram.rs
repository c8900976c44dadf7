//! Counts how often a program's values occur.

use super::interpret::CpuProgram;
use super::{GRAIN, tasks};
use rayon::prelude::*;

/// Adds to each number of `out` how often its index occurs as a value; larger values are ignored.
pub fn count(program: &CpuProgram, leaves: &[&[u8]], len: usize, out: &mut [u32]) {
    let start = |counts| (program.worker(leaves), vec![0_u32; GRAIN], counts);
    let piece = |(mut worker, mut values, mut counts): (_, Vec<u32>, Vec<u32>), at: usize| {
        let worker_of: &mut super::interpret::Worker<'_> = &mut worker;
        let values_of = &mut values[..GRAIN.min(len - at * GRAIN)];
        worker_of.run(at * GRAIN, values_of);
        for value in values_of {
            if let Some(count) = counts.get_mut(*value as usize) {
                *count += 1;
            }
        }
        (worker, values, counts)
    };
    let (pieces, words) = (len.div_ceil(GRAIN), out.len());
    let add = |mut all: Vec<u32>, more: Vec<u32>| {
        all.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        all
    };
    let found = if tasks() > 1 {
        let each = (0..pieces).into_par_iter().fold(|| start(vec![0; words]), piece);
        each.map(|(_, _, counts)| counts).reduce(|| vec![0; words], add)
    } else {
        (0..pieces).fold(start(vec![0; words]), piece).2
    };
    out.iter_mut().zip(found).for_each(|(count, more)| *count += more);
}
