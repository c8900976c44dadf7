//! A monoid's operation over slices.

use super::arith::Arith;
use super::interpret::CpuProgram;
use crate::element::Element;
use crate::monoid::{Monoid, Operation};
use bytemuck::cast_slice;
use std::sync::Arc;

/// Neighbouring runs that a scan goes along side by side, so that each addition need not wait for the one before ...
const STREAMS: usize = 8;
/// ... and how long they are: no multiple of 4 KiB apart, where all would fall into one set of the first cache.
const STREAM: usize = 1040;
/// Elements that [`Combine::scan`] takes at once, at best.
pub const SCAN_GROUP: usize = STREAMS * STREAM;

/// Accumulators of a sum, independent of each other.
const LANES: usize = 32;
/// Elements added by one set of accumulators.
const LEAF: usize = 4096;

/// An associative operation, a slice at a time.
pub trait Combine<T>: Send + Sync {
    fn identity(&self) -> T;
    fn pair(&self, a: T, b: T) -> T;
    /// All of them as one.
    fn fold(&self, values: &[T]) -> T;
    /// Running values in place, after `before`; what comes after the last.
    fn scan(&self, values: &mut [T], before: T, exclusive: bool) -> T;
}

/// The monoid on the CPU.
pub fn combine_of<T: Element>(monoid: &Monoid<T>) -> Arc<dyn Combine<T>> {
    let identity = monoid.identity();
    match monoid.operation() {
        Operation::Sum => Arc::new(Native { identity, f: <T as Arith>::add }),
        Operation::Product => Arc::new(Native { identity, f: <T as Arith>::mul }),
        Operation::Min => Arc::new(Native { identity, f: <T as Arith>::least }),
        Operation::Max => Arc::new(Native { identity, f: <T as Arith>::most }),
        Operation::Own => Arc::new(Interpreted { identity, program: Arc::clone(monoid.definition()) }),
    }
}

/// Commutative too.
struct Native<T, F> {
    identity: T,
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T + Send + Sync> Native<T, F> {
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
        let mut half = LANES / 2;
        while half > 0 {
            for i in 0..half {
                lanes[i] = (self.f)(lanes[i], lanes[i + half]);
            }
            half /= 2;
        }
        lanes[0]
    }

    fn scan_group(&self, values: &mut [T; SCAN_GROUP], before: T, exclusive: bool) -> T {
        let (streams, _) = values.as_chunks_mut::<STREAM>();
        let mut running = [before; STREAMS];
        let mut all = before;
        for (start, stream) in running.iter_mut().zip(streams.iter()) {
            *start = all;
            all = (self.f)(all, self.leaf(stream));
        }
        let [a, b, c, d, e, f, g, h] = streams else { return all };
        let each = a.iter_mut().zip(b).zip(c).zip(d).zip(e).zip(f).zip(g).zip(h);
        for (((((((a, b), c), d), e), f), g), h) in each {
            for (running, value) in running.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                let next = (self.f)(*running, *value);
                *value = if exclusive { *running } else { next };
                *running = next;
            }
        }
        all
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
        pairwise(&values.chunks(LEAF).map(|leaf| self.leaf(leaf)).collect::<Vec<_>>(), self.identity, &self.f)
    }

    fn scan(&self, values: &mut [T], before: T, exclusive: bool) -> T {
        let mut running = before;
        let (groups, rest) = values.as_chunks_mut::<SCAN_GROUP>();
        for group in groups {
            running = self.scan_group(group, running, exclusive);
        }
        for value in rest {
            let next = (self.f)(running, *value);
            *value = if exclusive { running } else { next };
            running = next;
        }
        running
    }
}

/// Combined as a balanced tree, in order.
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

/// The user's, by the interpreter, many pairs at a time; in order.
struct Interpreted<T> {
    identity: T,
    program: Arc<CpuProgram>,
}

impl<T: Element> Interpreted<T> {
    fn pairs(&self, a: &[T], b: &[T], out: &mut [T]) {
        self.program.worker(&[cast_slice(a), cast_slice(b)]).run(0, out);
    }
}

impl<T: Element> Combine<T> for Interpreted<T> {
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

    fn scan(&self, values: &mut [T], before: T, exclusive: bool) -> T {
        let mut running = before;
        for block in values.chunks_mut(super::interpret::BLOCK) {
            // Hillis and Steele: after each pass a value covers twice as many of those before.
            let mut reach = 1;
            while reach < block.len() {
                let old = block.to_vec();
                self.pairs(&old[..block.len() - reach], &old[reach..], &mut block[reach..]);
                reach *= 2;
            }
            let old = block.to_vec();
            self.pairs(&vec![running; old.len()], &old, block);
            let last = block[block.len() - 1];
            if exclusive {
                block.copy_within(..old.len() - 1, 1);
                block[0] = running;
            }
            running = last;
        }
        running
    }
}
