//! A monoid's operation over slices.

use super::arith::Arith;
use super::interpret::CpuProgram;
use super::vectors::{Input, RunningValues, prefetch, widest};
use crate::element::Element;
use crate::monoid::{Monoid, Operation};
use bytemuck::cast_slice;
use std::sync::Arc;

/// Elements that a scan processes at once, in steps that the compiler vectorises.
const ROW: usize = 16;

/// Independent accumulators of a sum.
const LANES: usize = 32;
/// Elements added by one set of accumulators.
const LEAF: usize = 4096;

/// An associative operation on whole slices.
pub trait Combine<T>: Send + Sync {
    fn identity(&self) -> T;
    fn pair(&self, a: T, b: T) -> T;
    /// Combines all values into one.
    fn fold(&self, values: &[T]) -> T;
    /// Combines the values into parts, in order, for [`Combine::scan`].
    fn parts(&self, values: &[T]) -> Vec<T>;
    /// Computes the running values after `before`, as many as `out` holds. `parts` are those of the values.
    fn scan(&self, input: Input<'_, T>, parts: &[T], before: T, exclusive: bool, out: &mut [T]);
}

/// Returns the monoid's operation on the CPU.
pub fn combine_of<T: Element>(monoid: &Monoid<T>) -> Arc<dyn Combine<T>> {
    let identity = monoid.identity();
    match monoid.operation() {
        Operation::Sum => Arc::new(Native { identity, f: <T as Arith>::add, running: T::running_sums() }),
        Operation::Product => Arc::new(Native { identity, f: <T as Arith>::mul, running: None }),
        Operation::Min => Arc::new(Native { identity, f: <T as Arith>::least, running: None }),
        Operation::Max => Arc::new(Native { identity, f: <T as Arith>::most, running: None }),
        Operation::Own => Arc::new(InterpretedCombine { identity, program: Arc::clone(monoid.definition()) }),
    }
}

/// A commutative operation.
struct Native<T, F> {
    identity: T,
    f: F,
    /// Inclusive running values, computed faster than by `f`.
    running: Option<RunningValues<T>>,
}

impl<T: Element, F: Fn(T, T) -> T + Send + Sync> Native<T, F> {
    #[inline(always)]
    fn leaf(&self, values: &[T]) -> T {
        let mut lanes = [self.identity; LANES];
        let (groups, rest) = values.as_chunks::<LANES>();
        for group in groups {
            for (lane, v) in lanes.iter_mut().zip(group) {
                *lane = (self.f)(*lane, *v);
            }
        }
        for (lane, v) in lanes.iter_mut().zip(rest) {
            *lane = (self.f)(*lane, *v);
        }
        self.join(&lanes)
    }

    /// Combines the lanes pairwise. Not inlined, because the compiler would otherwise arrange the lanes for this, and
    /// shuffle them in the loop.
    #[inline(never)]
    fn join(&self, lanes: &[T; LANES]) -> T {
        let (mut lanes, mut half) = (*lanes, LANES / 2);
        while half > 0 {
            for i in 0..half {
                lanes[i] = (self.f)(lanes[i], lanes[i + half]);
            }
            half /= 2;
        }
        lanes[0]
    }

    /// Computes the inclusive running values of one leaf.
    #[inline(always)]
    fn run(&self, input: Input<'_, T>, mut before: T, out: &mut [T]) {
        let (rows, rest) = input.values.as_chunks::<ROW>();
        let mut ahead = input.ahead.chunks(ROW);
        let (out_rows, out_rest) = out.as_chunks_mut::<ROW>();
        for (row, out) in rows.iter().zip(out_rows) {
            prefetch(ahead.next().unwrap_or_default());
            let row = self.cover::<8>(self.cover::<4>(self.cover::<2>(self.cover::<1>(*row))));
            for (out, value) in out.iter_mut().zip(row) {
                *out = (self.f)(before, value);
            }
            before = (self.f)(before, row[ROW - 1]);
        }
        for (value, out) in rest.iter().zip(out_rest) {
            before = (self.f)(before, *value);
            *out = before;
        }
    }

    /// One pass of Hillis and Steele's scan, after which a value covers twice as many of those before. The reach is
    /// constant, so that the compiler makes a few vectors of it.
    #[inline(always)]
    fn cover<const REACH: usize>(&self, row: [T; ROW]) -> [T; ROW] {
        let mut wider = row;
        for at in REACH..ROW {
            wider[at] = (self.f)(row[at - REACH], row[at]);
        }
        wider
    }
}

impl<T: Element, F: Fn(T, T) -> T + Send + Sync> Combine<T> for Native<T, F> {
    fn identity(&self) -> T {
        self.identity
    }

    fn pair(&self, a: T, b: T) -> T {
        (self.f)(a, b)
    }

    fn fold(&self, values: &[T]) -> T {
        pairwise(&self.parts(values), self.identity, &self.f)
    }

    fn parts(&self, values: &[T]) -> Vec<T> {
        values.chunks(LEAF).map(|leaf| widest(|| self.leaf(leaf))).collect()
    }

    fn scan(&self, input: Input<'_, T>, parts: &[T], before: T, exclusive: bool, out: &mut [T]) {
        let mut start = before;
        let mut ahead = input.ahead.chunks(LEAF);
        for ((values, out), part) in input.values.chunks(LEAF).zip(out.chunks_mut(LEAF)).zip(parts) {
            let ahead = ahead.next().unwrap_or_default();
            let (values, out) = match (exclusive, values, out) {
                (true, [values @ .., _], [first, out @ ..]) => {
                    *first = start;
                    (values, out)
                }
                (_, values, out) => (values, out),
            };
            let input = Input { values, ahead };
            match self.running {
                Some(running) => running(input, start, out),
                None => self.run(input, start, out),
            }
            start = (self.f)(start, *part);
        }
    }
}

/// Combines the values as a balanced tree, in order.
fn pairwise<T: Copy>(values: &[T], identity: T, f: &impl Fn(T, T) -> T) -> T {
    match values {
        [] => identity,
        [one] => *one,
        more => {
            let (a, b) = more.split_at(more.len() / 2);
            f(pairwise(a, identity, f), pairwise(b, identity, f))
        }
    }
}

/// A monoid of the user, interpreted for many pairs at a time, in order.
struct InterpretedCombine<T> {
    identity: T,
    program: Arc<CpuProgram>,
}

impl<T: Element> InterpretedCombine<T> {
    fn pairs(&self, a: &[T], b: &[T], out: &mut [T]) {
        self.program.worker(&[cast_slice(a), cast_slice(b)]).run(0, out);
    }
}

impl<T: Element> Combine<T> for InterpretedCombine<T> {
    fn identity(&self) -> T {
        self.identity
    }

    fn pair(&self, a: T, b: T) -> T {
        let mut out = [self.identity];
        self.pairs(&[a], &[b], &mut out);
        out[0]
    }

    fn fold(&self, values: &[T]) -> T {
        let mut values = values.to_vec();
        while values.len() > 1 {
            let odd = (values.len() % 2 == 1).then(|| values.pop()).flatten();
            let (left, right): (Vec<T>, Vec<T>) = values.as_chunks::<2>().0.iter().map(|[a, b]| (*a, *b)).unzip();
            let mut next = vec![self.identity; left.len()];
            self.pairs(&left, &right, &mut next);
            next.extend(odd);
            values = next;
        }
        values.first().copied().unwrap_or(self.identity)
    }

    fn parts(&self, values: &[T]) -> Vec<T> {
        vec![self.fold(values)]
    }

    fn scan(&self, input: Input<'_, T>, _parts: &[T], before: T, exclusive: bool, out: &mut [T]) {
        let mut running = before;
        for (values, block) in input.values.chunks(super::interpret::BLOCK).zip(out.chunks_mut(super::interpret::BLOCK))
        {
            let mut old = values.to_vec();
            // Hillis and Steele: after each pass a value covers twice as many of those before.
            let mut reach = 1;
            while reach < old.len() {
                let (head, tail) = block.split_at_mut(reach);
                head.copy_from_slice(&old[..reach]);
                self.pairs(&old[..old.len() - reach], &old[reach..], tail);
                old.copy_from_slice(block);
                reach *= 2;
            }
            self.pairs(&vec![running; old.len()], &old, block);
            let last = block.last().copied().unwrap_or(running);
            if exclusive {
                block.copy_within(..old.len() - 1, 1);
                block[0] = running;
            }
            running = last;
        }
    }
}
