//! Arrays: shapes, views of views, expressions, reductions, scans; each compared with plain Rust.

mod views;

use crate::fuzz::{
    Choices, Machine, Things, Turn, TurnResult, WeightedOperation, drivers::Drivers, hold, hostile, operations,
};
use compute_arrays::{Array, Arrays, Expr, Monoid, Philox, Scan};

/// Makers that outlive rounds: kernels are built once for each form of an expression.
pub struct Makers(Vec<Arrays>);

impl Makers {
    /// For every backend.
    pub fn new(drivers: &Drivers) -> TurnResult<Self> {
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
fn shape(t: &mut Choices) -> Vec<usize> {
    (0..t.below(4)).map(|_| if t.one_in(12) { 0 } else { 1 + t.below(13) }).collect()
}

/// A shape of any numbers.
fn bad_shape(t: &mut Choices) -> Vec<usize> {
    (0..1 + t.below(4)).map(|_| hostile::near(t, 4)).collect()
}

/// The elements of a shape; none where they cannot be counted.
fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1, |n: usize, side| n.checked_mul(*side)) }
}

impl<'a> Machine<'a> for World<'a> {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            2 => Self::transfer,
            3 => Self::compute,
            2 => Self::reduce,
            1 => Self::scan,
            1 => Self::random,
            1 => Self::misuse,
            1 => Self::refused,
            1 => Self::reshape,
            1 => Self::let_go,
            3 => |_, t| views::walk(t),
            1 => Self::adopt,
            7 => Self::look,
        }
    }

    fn new(things: &'a Things, _: &mut Turn) -> TurnResult<Option<Self>> {
        Ok(things.makers.as_ref().map(|makers| Self { makers: &makers.0, slots: Vec::new() }))
    }

    fn supply(&mut self, t: &mut Turn) -> TurnResult<bool> {
        let enough = self.slots.len() >= 4 && (self.slots.len() >= 10 || !t.one_in(10));
        if !enough {
            self.make(t)?;
        }
        Ok(enough)
    }

    fn end(self, t: &mut Turn) -> TurnResult {
        for slot in self.slots {
            t.op("arrays: to_vec", format_args!("{:?}", slot.shape));
            hold!(t.end_with(slot.array.to_vec())? == slot.values, "an array holds something else");
        }
        Ok(())
    }
}

impl World<'_> {
    fn slot(&self, t: &mut Choices) -> usize {
        t.below(self.slots.len())
    }

    fn make(&mut self, t: &mut Turn) -> TurnResult {
        let (owner, shape) = (t.below(self.makers.len()), shape(t));
        let values = t.words(shape.iter().product());
        t.op("arrays: from_slice", format_args!("{shape:?}"));
        let made = self.makers[owner].from_slice(&values).and_then(|array| array.reshape(&shape));
        let array = t.end_with(made)?;
        self.slots.push(Slot { array, values, shape, owner });
        Ok(())
    }

    fn transfer(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let slot = &mut self.slots[at];
        let len = if t.one_in(3) { hostile::near(t, slot.values.len()).min(1 << 16) } else { slot.values.len() };
        let fits = len == slot.values.len();
        let mut values = t.words(len);
        if t.one_in(2) {
            t.op("arrays: read", format_args!("{len} of {}", slot.values.len()));
            if t.end(slot.array.read(&mut values)).is_ok() {
                hold!(fits && values == slot.values, "{len} elements were read that are not those of the array");
            }
        } else {
            t.op("arrays: write", format_args!("{len} of {}", slot.values.len()));
            if t.end(slot.array.write(&values)).is_ok() {
                hold!(fits, "{len} elements were written to {}", slot.values.len());
                slot.values = values;
            }
        }
        Ok(())
    }

    fn compute(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let other = t.below(self.slots.len());
        let (a, b) = (&self.slots[at], &self.slots[other]);
        let (form, number) = (t.below(5), t.word());
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
        t.op("arrays: eval", format_args!("{form} of {:?} and {:?}", a.shape, b.shape));
        let made = t.end(self.makers[a.owner].eval(expr));
        let fits = a.shape == b.shape && a.owner == b.owner;
        hold!(made.is_ok() == fits, "{:?} and {:?}: {}", a.shape, b.shape, if fits { "refused" } else { "taken" });
        if let Ok(array) = made {
            let values: Vec<u32> = a.values.iter().zip(&b.values).map(value).collect();
            hold!(array.to_vec()? == values, "form {form} of {:?} is wrong", a.shape);
            let (shape, owner) = (a.shape.clone(), a.owner);
            self.slots[at] = Slot { array, values, shape, owner };
        }
        Ok(())
    }

    fn reduce(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let Slot { array, values, .. } = &self.slots[at];
        let what = t.below(4);
        t.op("arrays: reduce", format_args!("{what} of {}", values.len()));
        let (found, wanted) = match what {
            0 => (array.sum().map(Some), Some(values.iter().fold(0, |a: u32, b| a.wrapping_add(*b)))),
            1 => (array.minimum().map(Some), values.iter().min().copied()),
            2 => (array.maximum().map(Some), values.iter().max().copied()),
            _ => {
                (array.argmin().map(|i| Some(i as u32)), (0..values.len()).min_by_key(|i| values[*i]).map(|i| i as u32))
            }
        };
        match t.end(found) {
            Ok(found) => hold!(wanted.is_none() || found == wanted, "{found:?} was found instead of {wanted:?}"),
            Err(_) => hold!(wanted.is_none(), "{what} of {} elements was refused", values.len()),
        }
        Ok(())
    }

    fn scan(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let slot = &mut self.slots[at];
        let scan = t.pick(&[Scan::Inclusive, Scan::Exclusive]);
        t.op("arrays: scan", format_args!("{scan:?} of {:?}", slot.shape));
        let sums = t.end_with(slot.array.expr().scan(&Monoid::sum(), scan))?;
        let mut sum = 0_u32;
        let values = slot.values.iter().map(|value| {
            let before = sum;
            sum = sum.wrapping_add(*value);
            if scan == Scan::Inclusive { sum } else { before }
        });
        hold!(sums.to_vec()? == values.collect::<Vec<_>>(), "{scan:?} of {} elements is wrong", slot.values.len());
        Ok(())
    }

    fn random(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let slot = &mut self.slots[at];
        let mut philox = Philox::new(t.bits()).with_stream(t.bits()).at_block(t.bits() | t.pick(&[0, u64::MAX]));
        t.op("arrays: random", format_args!("{philox:?}"));
        t.end(philox.integers(&mut slot.array))?;
        slot.values = slot.array.to_vec()?;
        Ok(())
    }

    fn reshape(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let Slot { array, values, shape, owner } = self.slots.swap_remove(at);
        let wanted = match t.below(3) {
            0 => bad_shape(t),
            1 => shape.iter().rev().copied().collect(),
            _ => vec![values.len()],
        };
        t.op("arrays: reshape", format_args!("{shape:?} to {wanted:?}"));
        let fits = count(&wanted) == Some(values.len());
        let reshaped = t.end(array.reshape(&wanted));
        hold!(reshaped.is_ok() == fits, "{shape:?} to {wanted:?}: {}", if fits { "refused" } else { "taken" });
        if let Ok(array) = reshaped {
            hold!(array.shape() == wanted, "{:?} instead of {wanted:?}", array.shape());
            self.slots.push(Slot { array, values, shape: wanted, owner });
        }
        Ok(())
    }

    /// Refuses what cannot be: parts of closures elsewhere, arrays of two owners, too many elements.
    fn refused(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let maker = &self.makers[t.below(self.makers.len())];
        let what = t.below(4);
        t.op("arrays: what cannot be", format_args!("{what}"));
        let taken = match what {
            0 => {
                let mut stolen = None;
                let slot = &mut self.slots[at];
                slot.array.update(|old| {
                    stolen = Some(old.clone());
                    old
                })?;
                stolen.is_some_and(|stolen| t.end(maker.tabulate(&slot.shape, stolen)).is_ok())
            }
            1 => {
                let bad = bad_shape(t);
                // Sizes that a machine may have are not asked for.
                if count(&bad).is_some_and(|n| n < 1 << 46) {
                    return Ok(());
                }
                t.end(maker.empty::<u32>(&bad)).is_ok()
            }
            2 => {
                let deep = (0..5000).fold(Expr::constant(1_u32), |expr, _| expr + 1);
                t.end(maker.tabulate(&[3], deep)).is_ok()
            }
            _ => t.end(maker.tabulate(&[usize::MAX / 4, 1], Expr::<u64>::index())).is_ok(),
        };
        hold!(!taken, "{what} was taken");
        Ok(())
    }

    fn misuse(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let slot = &mut self.slots[at];
        // A leaked expression keeps nothing borrowed that would end the program later.
        let mut leak = t.one_in(2).then(|| slot.array.expr() + 1);
        t.did("arrays: forget an expression", format_args!("{}", leak.is_some()));
        std::mem::forget(leak.take());
        t.op("arrays: update", format_args!("{:?}", slot.shape));
        t.end(slot.array.update(|old| old + 1))?;
        slot.values.iter_mut().for_each(|value| *value = value.wrapping_add(1));
        Ok(())
    }

    /// Memory of any backend becomes an array.
    fn adopt(&mut self, t: &mut Turn) -> TurnResult {
        let (owner, other) = (t.below(self.makers.len()), t.below(self.makers.len()));
        let bytes = hostile::size(t, 4096);
        let mut memory = self.makers[other].backend().allocate(bytes)?;
        memory.write(0, &vec![0; bytes])?;
        let shape = if t.one_in(2) { vec![bytes / 4] } else { bad_shape(t) };
        t.op("arrays: from_memory", format_args!("{bytes} bytes of {other} on {owner} as {shape:?}"));
        let array = t.end(self.makers[owner].from_memory::<u32>(memory, &shape))?;
        let elements = count(&shape).unwrap_or(usize::MAX);
        hold!(elements.saturating_mul(4) <= bytes, "{shape:?} was taken from {bytes} bytes");
        let twice = t.end(self.makers[owner].eval(&array + &array));
        hold!(twice.is_err() || owner == other || elements == 0, "memory of another backend was read");
        Ok(())
    }

    fn let_go(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let slot = self.slots.swap_remove(at);
        if t.one_in(4) {
            t.did("arrays: forget", format_args!("{:?}", slot.shape));
            std::mem::forget(slot.array);
        } else {
            t.did("arrays: drop", format_args!("{:?}", slot.shape));
        }
        Ok(())
    }
}
