//! Arrays: shapes, views of views, expressions, reductions, scans; each compared with plain Rust.

mod views;

use crate::fuzz::{Checked, Log, Rng, drivers::Drivers, hold, hostile};
use pixelferry::arrays::{Array, Arrays, Expr, Monoid, Philox, Scan};

/// Makers that outlive rounds: kernels are built once for each form of an expression.
pub struct Makers(Vec<Arrays>);

impl Makers {
    /// For every backend.
    pub fn new(drivers: &Drivers) -> Checked<Self> {
        let makers = drivers.backends().into_iter().map(Arrays::new);
        Ok(Self(makers.collect::<pixelferry::Result<_>>()?))
    }
}

struct Slot {
    array: Array<u32>,
    values: Vec<u32>,
    shape: Vec<usize>,
    owner: usize,
}

/// Some arrays.
pub struct World<'a> {
    makers: &'a [Arrays],
    slots: Vec<Slot>,
}

/// A shape of some thousand elements at most.
fn shape(rng: &mut Rng) -> Vec<usize> {
    (0..rng.below(4)).map(|_| if rng.one_in(12) { 0 } else { 1 + rng.below(13) }).collect()
}

/// A shape of any numbers.
fn bad_shape(rng: &mut Rng) -> Vec<usize> {
    (0..1 + rng.below(4)).map(|_| hostile::near(rng, 4)).collect()
}

fn words(rng: &mut Rng, len: usize) -> Vec<u32> {
    (0..len).map(|_| rng.word()).collect()
}

/// The elements of a shape; none where they cannot be counted.
fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1, |n: usize, side| n.checked_mul(*side)) }
}

impl super::World for World<'_> {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.slots.len() < 4 || (self.slots.len() < 10 && rng.one_in(10)) {
            return self.make(rng, log);
        }
        let at = rng.below(self.slots.len());
        match rng.below(24) {
            0 | 1 => self.transfer(rng, log, at),
            2..5 => self.compute(rng, log, at),
            5 | 6 => self.reduce(rng, log, at),
            7 => self.scan(rng, log, at),
            8 => self.random(rng, log, at),
            9 => self.misuse(rng, log, at),
            10 => self.refused(rng, log, at),
            11 => self.reshape(rng, log, at),
            12 => self.let_go(rng, log, at),
            13..16 => views::walk(rng, log),
            16 => self.adopt(rng, log),
            _ => self.look(rng, log, at),
        }
    }

    fn end(self: Box<Self>, log: &mut Log) -> Checked {
        for slot in self.slots {
            log.op("arrays: to_vec", format_args!("{:?}", slot.shape));
            hold!(log.end_with(slot.array.to_vec())? == slot.values, "an array holds something else");
        }
        Ok(())
    }
}

impl<'a> World<'a> {
    /// With no array yet.
    pub fn new(makers: &'a Makers) -> Self {
        Self { makers: &makers.0, slots: Vec::new() }
    }

    fn make(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (owner, shape) = (rng.below(self.makers.len()), shape(rng));
        let values = words(rng, shape.iter().product());
        log.op("arrays: from_slice", format_args!("{shape:?}"));
        let made = self.makers[owner].from_slice(&values).and_then(|array| array.reshape(&shape));
        let array = log.end_with(made)?;
        self.slots.push(Slot { array, values, shape, owner });
        Ok(())
    }

    fn transfer(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let slot = &mut self.slots[at];
        let len = if rng.one_in(3) { hostile::near(rng, slot.values.len()).min(1 << 16) } else { slot.values.len() };
        let fits = len == slot.values.len();
        let mut values = words(rng, len);
        if rng.one_in(2) {
            log.op("arrays: read", format_args!("{len} of {}", slot.values.len()));
            if log.end(slot.array.read(&mut values)).is_some() {
                hold!(fits && values == slot.values, "{len} elements were read that are not those of the array");
            }
        } else {
            log.op("arrays: write", format_args!("{len} of {}", slot.values.len()));
            if log.end(slot.array.write(&values)).is_some() {
                hold!(fits, "{len} elements were written to {}", slot.values.len());
                slot.values = values;
            }
        }
        Ok(())
    }

    fn compute(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let other = rng.below(self.slots.len());
        let (a, b) = (&self.slots[at], &self.slots[other]);
        let (form, number) = (rng.below(5), rng.word());
        let value = |(x, y): (&u32, &u32)| match form {
            0 => x.wrapping_add(*y),
            1 => (x ^ y).wrapping_mul(number),
            2 => *x.min(y),
            3 => {
                if x < y {
                    *y
                } else {
                    number
                }
            }
            _ => x | y,
        };
        let expr = match form {
            0 => &a.array + &b.array,
            1 => (&a.array ^ &b.array) * number,
            2 => a.array.expr().min(&b.array),
            3 => a.array.expr().lt(&b.array).select(&b.array, number),
            _ => a.array.expr().cast::<u64>().cast::<u32>() | &b.array,
        };
        log.op("arrays: eval", format_args!("{form} of {:?} and {:?}", a.shape, b.shape));
        let made = log.end(self.makers[a.owner].eval(expr));
        let fits = a.shape == b.shape && a.owner == b.owner;
        hold!(made.is_some() == fits, "{:?} and {:?}: {}", a.shape, b.shape, if fits { "refused" } else { "taken" });
        if let Some(array) = made {
            let values: Vec<u32> = a.values.iter().zip(&b.values).map(value).collect();
            hold!(array.to_vec()? == values, "form {form} of {:?} is wrong", a.shape);
            let (shape, owner) = (a.shape.clone(), a.owner);
            self.slots[at] = Slot { array, values, shape, owner };
        }
        Ok(())
    }

    fn reduce(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let Slot { array, values, .. } = &self.slots[at];
        let what = rng.below(4);
        log.op("arrays: reduce", format_args!("{what} of {}", values.len()));
        let (found, wanted) = match what {
            0 => (array.sum().map(Some), Some(values.iter().fold(0, |a: u32, b| a.wrapping_add(*b)))),
            1 => (array.minimum().map(Some), values.iter().min().copied()),
            2 => (array.maximum().map(Some), values.iter().max().copied()),
            _ => {
                (array.argmin().map(|i| Some(i as u32)), (0..values.len()).min_by_key(|i| values[*i]).map(|i| i as u32))
            }
        };
        match log.end(found) {
            Some(found) => hold!(wanted.is_none() || found == wanted, "{found:?} was found instead of {wanted:?}"),
            None => hold!(wanted.is_none(), "{what} of {} elements was refused", values.len()),
        }
        Ok(())
    }

    fn scan(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let slot = &mut self.slots[at];
        let scan = rng.pick(&[Scan::Inclusive, Scan::Exclusive]);
        log.op("arrays: scan", format_args!("{scan:?} of {:?}", slot.shape));
        let sums = log.end_with(slot.array.expr().scan(&Monoid::sum(), scan))?;
        let mut sum = 0_u32;
        let values = slot.values.iter().map(|value| {
            let before = sum;
            sum = sum.wrapping_add(*value);
            if scan == Scan::Inclusive { sum } else { before }
        });
        hold!(sums.to_vec()? == values.collect::<Vec<_>>(), "{scan:?} of {} elements is wrong", slot.values.len());
        Ok(())
    }

    fn random(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let slot = &mut self.slots[at];
        let mut philox =
            Philox::new(rng.bits()).with_stream(rng.bits()).at_block(rng.bits() | rng.pick(&[0, u64::MAX]));
        log.op("arrays: random", format_args!("{philox:?}"));
        if log.end(philox.integers(&mut slot.array)).is_some() {
            slot.values = slot.array.to_vec()?;
        }
        Ok(())
    }

    fn reshape(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let Slot { array, values, shape, owner } = self.slots.swap_remove(at);
        let wanted = match rng.below(3) {
            0 => bad_shape(rng),
            1 => shape.iter().rev().copied().collect(),
            _ => vec![values.len()],
        };
        log.op("arrays: reshape", format_args!("{shape:?} to {wanted:?}"));
        let fits = count(&wanted) == Some(values.len());
        let reshaped = log.end(array.reshape(&wanted));
        hold!(reshaped.is_some() == fits, "{shape:?} to {wanted:?}: {}", if fits { "refused" } else { "taken" });
        if let Some(array) = reshaped {
            hold!(array.shape() == wanted, "{:?} instead of {wanted:?}", array.shape());
            self.slots.push(Slot { array, values, shape: wanted, owner });
        }
        Ok(())
    }

    /// Refuses what cannot be: parts of closures elsewhere, arrays of two owners, too many elements.
    fn refused(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let maker = &self.makers[rng.below(self.makers.len())];
        let what = rng.below(4);
        log.op("arrays: what cannot be", format_args!("{what}"));
        let taken = match what {
            0 => {
                let mut stolen = None;
                let slot = &mut self.slots[at];
                slot.array.update(|old| {
                    stolen = Some(old.clone());
                    old
                })?;
                stolen.is_some_and(|stolen| log.end(maker.tabulate(&slot.shape, stolen)).is_some())
            }
            1 => {
                let bad = bad_shape(rng);
                // Sizes that a machine may have are not asked for.
                if count(&bad).is_some_and(|n| n < 1 << 46) {
                    return Ok(());
                }
                log.end(maker.empty::<u32>(&bad)).is_some()
            }
            2 => {
                let deep = (0..5000).fold(Expr::constant(1_u32), |expr, _| expr + 1);
                log.end(maker.tabulate(&[3], deep)).is_some()
            }
            _ => log.end(maker.tabulate(&[usize::MAX / 4, 1], Expr::<u64>::index())).is_some(),
        };
        hold!(!taken, "{what} was taken");
        Ok(())
    }

    fn misuse(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let slot = &mut self.slots[at];
        // A leaked expression keeps nothing borrowed that would end the program later.
        let mut leak = rng.one_in(2).then(|| slot.array.expr() + 1);
        log.did("arrays: forget an expression", format_args!("{}", leak.is_some()));
        std::mem::forget(leak.take());
        log.op("arrays: update", format_args!("{:?}", slot.shape));
        if log.end(slot.array.update(|old| old + 1)).is_some() {
            slot.values.iter_mut().for_each(|value| *value = value.wrapping_add(1));
        }
        Ok(())
    }

    /// Memory of any backend becomes an array.
    fn adopt(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (owner, other) = (rng.below(self.makers.len()), rng.below(self.makers.len()));
        let bytes = hostile::size(rng, 4096);
        let mut memory = self.makers[other].backend().allocate(bytes)?;
        memory.write(0, &vec![0; bytes])?;
        let shape = if rng.one_in(2) { vec![bytes / 4] } else { bad_shape(rng) };
        log.op("arrays: from_memory", format_args!("{bytes} bytes of {other} on {owner} as {shape:?}"));
        if let Some(array) = log.end(self.makers[owner].from_memory::<u32>(memory, &shape)) {
            let elements = count(&shape).unwrap_or(usize::MAX);
            hold!(elements.saturating_mul(4) <= bytes, "{shape:?} was taken from {bytes} bytes");
            let twice = log.end(self.makers[owner].eval(&array + &array));
            hold!(twice.is_none() || owner == other || elements == 0, "memory of another backend was read");
        }
        Ok(())
    }

    fn let_go(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let slot = self.slots.swap_remove(at);
        if rng.one_in(4) {
            log.did("arrays: forget", format_args!("{:?}", slot.shape));
            std::mem::forget(slot.array);
        } else {
            log.did("arrays: drop", format_args!("{:?}", slot.shape));
        }
        Ok(())
    }
}
