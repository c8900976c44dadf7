//! Reductions: all values combined into one.

use super::{Form, on_cpu};
use crate::array::Array;
use crate::context::Arrays;
use crate::cpu::{CpuProgram, Extremum, combine_of, reduce, reduce_extremum};
use crate::element::{Constant, Element, ElementType};
use crate::expr::{BoundProgram, Expr, Role, no_shape};
use crate::layout::elements;
use crate::monoid::Monoid;
use crate::scratch::Scratch;
use crate::text::wgsl::{self, Wgsl};
use crate::text::{Dialect, REDUCE, REDUCE_RUNS, TREE, Text, parameters};
use bytemuck::cast_slice_mut;
use interop_core::{Arg, BufferView, ComputeMemory, Error, Result, Target, View};
use std::sync::Arc;

/// Work items of a group.
const WIDTH: usize = 256;
/// Maximum number of groups. It is the same for all devices of a kind, so that all add in the same order.
const MOST_GROUPS: usize = 2048;

/// Values that a work item processes in sequence, in four independent sums, so that many loads are in flight.
const UNROLL: usize = 16;

/// Minimum number of values of a run, and maximum number of runs, on devices that are CPUs.
const RUN: usize = 8192;
const MOST_RUNS: usize = 4096;

impl Form {
    /// Returns the number of values after a reduction of `len` values, and the number of work items.
    fn parts(self, dialect: Dialect, len: usize) -> (usize, usize) {
        match (self, dialect) {
            // In WGSL, devices that are CPUs use the form of GPUs.
            (Self::Groups, _) | (_, Dialect::Wgsl) => {
                let groups = len.div_ceil(WIDTH * UNROLL).min(MOST_GROUPS);
                (groups, groups * WIDTH)
            }
            (Self::Runs, Dialect::C(_)) => {
                let runs = len.div_ceil(RUN).min(MOST_RUNS);
                (runs, runs)
            }
        }
    }
}

/// The value whose index is sought.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sought {
    Least,
    Greatest,
}

/// Bytes of a value with its index in the texts, the same for every type.
const PAIR_BYTES: usize = 16;

/// How values are combined.
enum How {
    Monoid {
        identity: Constant,
        definition: Arc<CpuProgram>,
    },
    /// The better value and its index.
    Extremum(&'static str),
}

/// Result of a group.
pub(super) struct Acc {
    bytes: usize,
    kind: ElementType,
    how: How,
    form: Form,
}

impl Acc {
    pub(super) fn monoid<T: Element>(monoid: &Monoid<T>, form: Form) -> Self {
        let how = How::Monoid { identity: monoid.identity().constant(), definition: Arc::clone(monoid.definition()) };
        Self { bytes: size_of::<T>(), kind: T::KIND, how, form }
    }

    pub(super) fn extremum<T: Element>(better: &'static str, form: Form) -> Self {
        Self { bytes: PAIR_BYTES, kind: T::KIND, how: How::Extremum(better), form }
    }

    /// Returns the text of `pf_reduce` for an expression's values.
    pub(super) fn reduce_text(&self, dialect: Dialect, bound: &BoundProgram<'_>, len: usize) -> String {
        let value = match self.how {
            How::Monoid { .. } => "#define pf_value pf_map\n",
            How::Extremum(_) => EXTREMUM_VALUE,
        };
        match dialect {
            Dialect::C(c) => self.text(Text::new(c, bound, self.kind, len).map(bound), value),
            Dialect::Wgsl => {
                let value = match self.how {
                    How::Monoid { .. } => "pf_map(i)",
                    How::Extremum(_) => "vec2<u32>(pf_bits(pf_map(i)), i)",
                };
                self.wgsl(Wgsl::new(self.kind).map(bound, 0, 1), value)
            }
        }
    }

    /// Returns the text of `pf_reduce` for the results of groups.
    pub(super) fn fold_text(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::C(c) => self.text(Text::with(c, self.kind, 0, false), PARTIALS),
            Dialect::Wgsl => {
                let (stored, value) = match self.how {
                    How::Monoid { .. } => ("u32", "pf_of_bits(pf_partials[i])"),
                    How::Extremum(_) => ("vec4<u32>", "pf_partials[i].xz"),
                };
                let partials = format!("@group(1) @binding(0) var<storage, read> pf_partials: array<{stored}>;\n");
                self.wgsl(Wgsl::new(self.kind).append(&partials), value)
            }
        }
    }

    fn wgsl(&self, text: Wgsl, value: &str) -> String {
        let text = match &self.how {
            How::Monoid { identity, definition } => text.monoid((*identity, definition)).append(wgsl::REDUCE_VALUES),
            How::Extremum(better) => text.better(self.kind, better).append(wgsl::REDUCE_PLACES),
        };
        let value = format!("fn pf_value(i: u32) -> PfAcc {{ return {value}; }}\n");
        text.append(&value).define("PF_UNROLL", UNROLL).append(wgsl::REDUCE).finish()
    }

    fn text(&self, text: Text, value: &str) -> String {
        let text = match &self.how {
            How::Monoid { identity, definition } => text.define("PF_ACC", "PF_T").monoid((*identity, definition)),
            How::Extremum(better) => text.words(self.kind).append(&extremum_text(better)),
        }
        .append(value);
        match self.form {
            Form::Groups => text.define("PF_UNROLL", UNROLL).append(TREE).append(REDUCE).finish(),
            Form::Runs => text.append(REDUCE_RUNS).finish(),
        }
    }
}

impl<'a, T: Element> Expr<'a, T> {
    /// Combines all values by `monoid`; the result is its identity where there are none. The arrays are read in one
    /// pass, and the expression's values are not stored. Waits for the result.
    ///
    /// The order depends only on the number of elements, and is the same in every run. GPUs share one order; devices
    /// that are CPUs and the CPU itself have others. Values are added as trees. On devices, the error of the sum of `n`
    /// floats is at most `(n / 2^21 + 40) * epsilon` times the sum of the absolute values. On the CPU it is at most
    /// `200 * epsilon` times that sum.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the expression has no array; [`Error::Unsupported`] where the device lacks a type;
    /// errors of the backend.
    pub fn reduce(&self, monoid: &Monoid<T>) -> Result<T> {
        let mut result = [T::default()];
        let read = |memory: &mut dyn ComputeMemory| memory.read(0, cast_slice_mut(&mut result));
        let reduced = self.reduce_on(None, monoid, read)?;
        Ok(if reduced.is_some() { result[0] } else { monoid.identity() })
    }

    /// Gives `read` the memory with the result; `None` where there are no values.
    pub(crate) fn reduce_on<R>(
        &self,
        on: Option<&Arrays>,
        monoid: &Monoid<T>,
        read: impl FnOnce(&mut dyn ComputeMemory) -> Result<R>,
    ) -> Result<Option<R>> {
        const OP: &str = "Expr::reduce";
        let (bound, arrays, len) = self.bound(on, OP)?;
        if len == 0 {
            return Ok(None);
        }
        let reduced = arrays.with_scratch(Scratch::Result, PAIR_BYTES, |kept| {
            reduce_to(&arrays, &bound, len, monoid, kept.memory.as_mut(), OP)?;
            read(kept.memory.as_mut())
        });
        reduced.map(Some)
    }

    /// Reduces the values by `monoid` into an array of one element, without waiting. See [`Expr::reduce`].
    ///
    /// # Errors
    /// The errors of [`Expr::reduce`]; [`Error::InvalidInput`] where `into` does not have exactly one element.
    pub fn reduce_into(&self, monoid: &Monoid<T>, into: &mut Array<T>) -> Result<()> {
        self.reduce_into_on(None, monoid, into)
    }

    pub(crate) fn reduce_into_on(&self, on: Option<&Arrays>, monoid: &Monoid<T>, into: &mut Array<T>) -> Result<()> {
        const OP: &str = "Expr::reduce_into";
        let (bound, arrays, len) = self.bound(on, OP)?;
        arrays.check_same(into.arrays(), OP)?;
        if into.len() != 1 {
            return Err(Error::invalid(OP, format!("the result is one element, but the array has {}", into.len())));
        }
        if len == 0 {
            return into.write(&[monoid.identity()]);
        }
        match into.memory_mut(OP)? {
            Some(mut memory) => reduce_to(&arrays, &bound, len, monoid, memory.as_mut(), OP),
            None => Ok(()),
        }
    }

    /// Returns the sum; integers wrap. See [`Expr::reduce`] for order, accuracy and errors.
    pub fn sum(&self) -> Result<T> {
        self.reduce(&Monoid::sum())
    }

    /// Returns the product; integers wrap. See [`Expr::reduce`].
    pub fn product(&self) -> Result<T> {
        self.reduce(&Monoid::product())
    }

    /// Returns the smallest value. NaN is ignored; if all values are NaN, so is the result. See [`Expr::reduce`].
    ///
    /// # Errors
    /// Those of [`Expr::reduce`]; [`Error::InvalidInput`] also where there are no elements.
    pub fn minimum(&self) -> Result<T> {
        self.not_empty("Expr::minimum")?;
        self.reduce(&Monoid::min())
    }

    /// Returns the largest value; otherwise as [`Expr::minimum`].
    ///
    /// # Errors
    /// The errors of [`Expr::minimum`].
    pub fn maximum(&self) -> Result<T> {
        self.not_empty("Expr::maximum")?;
        self.reduce(&Monoid::max())
    }

    /// Returns the row-major index of the smallest value, the first of equals. NaN is ignored; if all values are NaN,
    /// the result is the first index.
    ///
    /// # Errors
    /// The errors of [`Expr::minimum`].
    pub fn argmin(&self) -> Result<u64> {
        self.extremum(None, Sought::Least, index)
    }

    /// Returns the row-major index of the largest value; otherwise as [`Expr::argmin`].
    ///
    /// # Errors
    /// The errors of [`Expr::minimum`].
    pub fn argmax(&self) -> Result<u64> {
        self.extremum(None, Sought::Greatest, index)
    }

    /// Lowers the expression, and returns it with its arrays and the number of elements.
    pub(crate) fn bound(
        &self,
        on: Option<&Arrays>,
        operation: &'static str,
    ) -> Result<(BoundProgram<'a>, Arrays, usize)> {
        let bound = BoundProgram::new(&self.tree, Role::Plain, operation)?;
        let (arrays, shape) = bound.arrays().zip(bound.shape()).ok_or_else(|| no_shape(operation))?;
        let (arrays, len) =
            (on.map_or(Ok(arrays), |on| on.check_same(arrays, operation).map(|()| on))?.clone(), elements(shape));
        arrays.check_kinds(&bound, operation)?;
        arrays.check_count(len, operation)?;
        Ok((bound, arrays, len))
    }

    /// # Errors
    /// [`Error::InvalidInput`] where there are no elements.
    pub(crate) fn not_empty(&self, operation: &'static str) -> Result<()> {
        let (_, _, len) = self.bound(None, operation)?;
        if len == 0 { Err(Error::invalid(operation, "there are no elements")) } else { Ok(()) }
    }

    /// Returns true where there are no elements.
    pub(crate) fn is_of_none(&self, operation: &'static str) -> Result<bool> {
        self.bound(None, operation).map(|(_, _, len)| len == 0)
    }

    /// Finds the value and its index, and reads them with `read`.
    pub(crate) fn extremum<R>(
        &self,
        on: Option<&Arrays>,
        sought: Sought,
        read: impl FnOnce(&mut dyn ComputeMemory) -> Result<R>,
    ) -> Result<R> {
        let (monoid, better, operation) = match sought {
            Sought::Least => (Monoid::<T>::min(), "<", "Expr::argmin"),
            Sought::Greatest => (Monoid::max(), ">", "Expr::argmax"),
        };
        self.not_empty(operation)?;
        let (bound, arrays, len) = self.bound(on, operation)?;
        arrays.with_scratch(Scratch::Result, PAIR_BYTES, |kept| {
            let memory = kept.memory.as_mut();
            if let Some(dialect) = arrays.dialect() {
                let acc = Acc::extremum::<T>(better, Form::of(&arrays));
                on_device(&arrays, &bound, len, &acc, dialect, memory, operation)?;
            } else {
                let (target, combine) = ((part(memory, PAIR_BYTES)?, len), combine_of(&monoid));
                on_cpu::<u64>(&arrays, "argmin", target, &bound, operation, move |program, out, leaves| {
                    let Extremum { index, .. } = reduce_extremum(program, leaves, len, combine.as_ref());
                    if let [_, at, ..] = out {
                        *at = index;
                    }
                })?;
            }
            read(memory)
        })
    }
}

/// Returns the second word of a pair.
fn index(memory: &mut dyn ComputeMemory) -> Result<u64> {
    let mut pair = [0u64; 2];
    memory.read(0, cast_slice_mut(&mut pair))?;
    Ok(pair[1])
}

const PARTIALS: &str = "#define PF_PARAMS , PF_GLOBAL const PF_ACC *restrict partials
#define PF_ARGS , partials
static PF_ACC pf_value(const pf_index i PF_PARAMS) { return partials[i]; }
";

const EXTREMUM_VALUE: &str = "static PF_ACC pf_value(const pf_index i PF_PARAMS) {
  const PF_T value = pf_map(i PF_ARGS);
  PF_ACC pair;
  pair.x = PF_WORD_OF(value);
  pair.y = (pf_u64)i;
  return pair;
}
";

/// A pair consists of the value's bits and the index, two words: rusticl 22.3 crashes on some structures. The empty
/// value has the index of all ones, and a number replaces a NaN.
fn extremum_text(better: &str) -> String {
    format!(
        "#define PF_ACC pf_pair
static PF_ACC pf_identity(void) {{
  PF_ACC none;
  none.x = 0;
  none.y = ~(pf_u64)0;
  return none;
}}
static PF_ACC pf_combine(const PF_ACC a, const PF_ACC b) {{
  const PF_T v = PF_OF_WORD(a.x), w = PF_OF_WORD(b.x);
  const int v_nan = v != v, w_nan = w != w;
  const int same = v_nan ? w_nan : v == w;
  const int better = same ? b.y < a.y : v_nan ? 1 : w_nan ? 0 : w {better} v;
  const int second = a.y == ~(pf_u64)0 || (b.y != ~(pf_u64)0 && better);
  PF_ACC one;
  one.x = second ? b.x : a.x;
  one.y = second ? b.y : a.y;
  return one;
}}
"
    )
}

pub(super) fn part<'m>(memory: &'m mut dyn ComputeMemory, bytes: usize) -> Result<Target<'m>> {
    Target::new(memory, View::Buffer(BufferView { offset: 0, len: bytes }))
}

/// Queues the reduction of `len` values, more than 0, to the first element of `memory`.
fn reduce_to<T: Element>(
    arrays: &Arrays,
    bound: &BoundProgram<'_>,
    len: usize,
    monoid: &Monoid<T>,
    memory: &mut dyn ComputeMemory,
    operation: &'static str,
) -> Result<()> {
    if let Some(dialect) = arrays.dialect() {
        return on_device(arrays, bound, len, &Acc::monoid(monoid, Form::of(arrays)), dialect, memory, operation);
    }
    let (target, combine) = ((part(memory, size_of::<T>())?, len), combine_of(monoid));
    on_cpu::<T>(arrays, "reduce", target, bound, operation, move |program, out, leaves| {
        if let Some(first) = out.first_mut() {
            *first = reduce(program, leaves, len, combine.as_ref());
        }
    })
}

/// Queues the reduction by kernels.
pub(super) fn on_device(
    arrays: &Arrays,
    bound: &BoundProgram<'_>,
    len: usize,
    acc: &Acc,
    dialect: Dialect,
    memory: &mut dyn ComputeMemory,
    operation: &'static str,
) -> Result<()> {
    let reduce = arrays.kernel("pf_reduce", &acc.reduce_text(dialect, bound, len), dialect)?;
    let (before, after) = ([dialect.count(len)], parameters(dialect, bound, 1));
    let (parts, items) = acc.form.parts(dialect, len);
    if parts == 1 {
        let target = part(memory, acc.bytes)?.with_items(items);
        return arrays.launch(reduce.as_ref(), target, &before, &bound.leaves, &after, operation);
    }
    let fold = arrays.kernel("pf_reduce", &acc.fold_text(dialect), dialect)?;
    arrays.with_scratch(Scratch::Partials, parts * acc.bytes, |kept| {
        let target = part(kept.memory.as_mut(), parts * acc.bytes)?.with_items(items);
        arrays.launch(reduce.as_ref(), target, &before, &bound.leaves, &after, operation)?;
        // One group combines the rest, however many they are.
        let args = [dialect.count(parts), Arg::Memory(kept.memory.as_ref())];
        let target = part(memory, acc.bytes)?.with_items(acc.form.parts(dialect, 1).1);
        arrays.launch(fold.as_ref(), target, &args, &[], &[], operation)
    })
}

macro_rules! on_arrays {
    ($($name:ident -> $result:ty;)*) => {
        impl<T: Element> Array<T> {
            $(#[doc = concat!("[`Expr::", stringify!($name), "`].")]
            ///
            /// # Errors
            /// Those of the method of [`Expr`] that has this name.
            pub fn $name(&self) -> Result<$result> {
                self.expr().$name()
            })*
        }
    };
}

on_arrays! {
    sum -> T;
    product -> T;
    minimum -> T;
    maximum -> T;
    argmin -> u64;
    argmax -> u64;
}
