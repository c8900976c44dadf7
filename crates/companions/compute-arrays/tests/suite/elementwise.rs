//! Every function of expressions.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // that NaN is on neither side is what is tested

use crate::suite::table::Table;
use crate::suite::{Sample, has, is_a_device, is_of_wgsl, lengths, on_every_backend, on_every_language, samples};
use compute_arrays::{Array, Arrays, Expr};
use interop_core::Api;
use pixelferry_testing::by_level;

/// A function of expressions, the units in the last place that it may be off, and the same in Rust.
type Function<T, R> = (&'static str, u64, for<'a> fn(Expr<'a, T>, Expr<'a, T>) -> Expr<'a, R>, fn(T, T) -> R);

/// Pairs of values on the host and on the device: all pairs of edges, and random ones.
struct Inputs<T: Sample> {
    x: Vec<T>,
    y: Vec<T>,
    a: Array<T>,
    b: Array<T>,
}

/// A function of inputs that are there.
struct Case<'a, R: Sample> {
    name: &'static str,
    kind: &'static str,
    ulp: u64,
    expected: Vec<R>,
    /// The function, over inputs that are repeated in so many rows.
    expr: Box<dyn Fn(usize) -> Expr<'a, R> + 'a>,
    /// In words, what an element is computed from.
    of: Box<dyn Fn(usize) -> String + 'a>,
}

/// The array again and again.
fn rows<T: Sample>(array: &Array<T>, count: usize) -> Expr<'_, T> {
    array.view().broadcast_to(&[count, array.len()]).unwrap().expr()
}

impl<T: Sample> Inputs<T> {
    /// None where the device lacks the type.
    fn new(arrays: &Arrays) -> Option<Self> {
        let (edges, count) = (T::edges(), by_level(700, 5400, 5400));
        let pairs = edges.iter().flat_map(|x| edges.iter().map(|y| (*x, *y)));
        let (x, y): (Vec<T>, Vec<T>) =
            pairs.chain(samples(count, 1).into_iter().zip(samples(count, 2))).take(count).unzip();
        has::<T>(arrays).then(|| {
            let (a, b) = (arrays.from_slice(&x).unwrap(), arrays.from_slice(&y).unwrap());
            Self { x, y, a, b }
        })
    }

    fn cases<R: Sample>(&self, functions: &[Function<T, R>]) -> Vec<Case<'_, R>> {
        let case = |&(name, ulp, expr, value): &Function<T, R>| Case {
            name,
            kind: T::KIND.name(),
            ulp,
            expected: self.x.iter().zip(&self.y).map(|(x, y)| value(*x, *y)).collect(),
            expr: Box::new(move |count| expr(rows(&self.a, count), rows(&self.b, count))),
            of: Box::new(|at| format!("of {} and {}", self.x[at], self.y[at])),
        };
        functions.iter().map(case).collect()
    }
}

/// Compares. At the shortest level one kernel computes many functions, each in a row of its own.
fn check<R: Sample>(table: &mut Table, arrays: &Arrays, cases: &[Case<'_, R>]) {
    let together = if is_a_device(arrays) { by_level(cases.len().max(1), 1, 1) } else { 1 };
    let flushes = !is_exact(arrays);
    for cases in cases.chunks(together) {
        let len = cases[0].expected.len();
        let row = Expr::index().cast::<u32>() / len as u32;
        let mut all = (cases[0].expr)(cases.len());
        for (at, case) in cases.iter().enumerate().skip(1) {
            all = row.clone().equals(at as u32).select((case.expr)(cases.len()), all);
        }
        let found = arrays.eval(all).unwrap().to_vec().unwrap();
        assert_eq!(found.len(), cases.len() * len);
        for (case, found) in cases.iter().zip(found.chunks(len)) {
            let mut worst = (0, String::new());
            for (at, (found, expected)) in found.iter().zip(&case.expected).enumerate() {
                let off = if flushes && expected.is_flushed_to(*found) { 0 } else { found.distance(*expected) };
                if off > worst.0 {
                    worst = (off, format!("{} gave {found}, expected {expected}", (case.of)(at)));
                }
            }
            table.add(case.name, case.kind, worst.0 as f64, case.ulp as f64, &worst.1);
        }
    }
}

/// OpenCL and WGSL leave open how a quotient and a root are rounded, and whether subnormal numbers become zero.
fn is_exact(arrays: &Arrays) -> bool {
    arrays.backend().device().api != Api::OpenCl && !is_of_wgsl(arrays)
}

/// Functions of integers or floats, after those that all types have with the same words in Rust.
macro_rules! cases {
    ($inputs:ident: $t:ident, $($own:expr,)*) => {
        $inputs.cases::<$t>(&[
            ("min", 0, |a, b| a.min(b), |x, y| x.min(y)),
            ("max", 0, |a, b| a.max(b), |x, y| x.max(y)),
            ("clamp", 0, |a, _| a.clamp(1 as $t, 2 as $t), |x, _| x.max(1 as $t).min(2 as $t)),
            ("lt", 0, |a, b| a.lt(b).select(1 as $t, 0 as $t), |x, y| u8::from(x < y) as $t),
            ("le", 0, |a, b| a.le(b).select(1 as $t, 0 as $t), |x, y| u8::from(x <= y) as $t),
            ("gt", 0, |a, b| a.gt(b).select(1 as $t, 0 as $t), |x, y| u8::from(x > y) as $t),
            ("ge", 0, |a, b| a.ge(b).select(1 as $t, 0 as $t), |x, y| u8::from(x >= y) as $t),
            ("equals", 0, |a, b| a.equals(b).cast::<$t>(), |x, y| u8::from(x == y) as $t),
            ("differs", 0, |a, b| a.differs(b).cast::<$t>(), |x, y| u8::from(x != y) as $t),
            ("select", 0, |a, b| a.clone().lt(b.clone()).select(a, b), |x, y| if x < y { x } else { y }),
            (
                "& | ^ !",
                0,
                |a, b| {
                    let (p, q) = (a.clone().lt(1 as $t), b.clone().lt(2 as $t));
                    ((p & !q) | (a.equals(b) ^ Expr::from(true))).cast::<$t>()
                },
                |x, y| {
                    let (p, q) = (x < 1 as $t, y < 2 as $t);
                    u8::from((p && !q) | (x != y)) as $t
                },
            ),
            $($own,)*
        ])
    };
}

macro_rules! integer {
    ($inputs:ident: $t:ident) => {
        cases! { $inputs: $t,
            ("+", 0, |a, b| a + b, $t::wrapping_add),
            ("-", 0, |a, b| a - b, $t::wrapping_sub),
            ("*", 0, |a, b| a * b, $t::wrapping_mul),
            ("/", 0, |a, b| a / b, |x, y| if y == 0 { 0 } else { x.wrapping_div(y) }),
            ("%", 0, |a, b| a % b, |x, y| if y == 0 { 0 } else { x.wrapping_rem(y) }),
            ("neg", 0, |a, _| -a, |x, _| x.wrapping_neg()),
            ("abs", 0, |a, _| a.abs(), |x, _| if x < 1 { (0 as $t).wrapping_sub(x) } else { x }),
            ("and", 0, |a, b| a & b, |x, y| x & y),
            ("or", 0, |a, b| a | b, |x, y| x | y),
            ("xor", 0, |a, b| a ^ b, |x, y| x ^ y),
            ("shl", 0, |a, b| a << b, |x, y| x.wrapping_shl(y as u32)),
            ("shr", 0, |a, b| a >> b, |x, y| x.wrapping_shr(y as u32)),
        }
    };
}

macro_rules! float {
    ($inputs:ident: $t:ident, $quotient:expr) => {{
        fn kept(a: Expr<'_, $t>) -> Expr<'_, $t> {
            a.clone().abs().lt(1e5).select(a, 1.0)
        }
        fn small(x: $t) -> f64 {
            f64::from(if x.abs() < 1e5 { x } else { 1.0 })
        }
        cases! { $inputs: $t,
            ("+", 0, |a, b| a + b, |x, y| x + y),
            ("-", 0, |a, b| a - b, |x, y| x - y),
            ("*", 0, |a, b| a * b, |x, y| x * y),
            ("a * b + a", 0, |a, b| a.clone() * b + a, |x, y| x * y + x),
            ("/", $quotient, |a, b| a / b, |x, y| x / y),
            ("%", 0, |a, b| a % b, |x, y| x % y),
            ("neg", 0, |a, _| -a, |x, _| -x),
            ("abs", 0, |a, _| a.abs(), |x, _| x.abs()),
            ("mul_add", 0, |a, b| a.clone().mul_add(b, a), |x, y| x.mul_add(y, x)),
            ("sqrt", $quotient, |a, _| a.sqrt(), |x, _| x.sqrt()),
            ("exp", 4, |a, _| a.min(80.0).max(-80.0).exp(), |x, _| f64::from(x.min(80.0).max(-80.0)).exp() as $t),
            ("ln", 4, |a, _| a.abs().ln(), |x, _| f64::from(x.abs()).ln() as $t),
            ("sin", 4, |a, _| kept(a).sin(), |x, _| small(x).sin() as $t),
            ("cos", 4, |a, _| kept(a).cos(), |x, _| small(x).cos() as $t),
            ("tan", 6, |a, _| kept(a).tan(), |x, _| small(x).tan() as $t),
            ("tanh", 6, |a, _| kept(a).tanh(), |x, _| small(x).tanh() as $t),
            ("atan2", 6, |a, b| a.atan2(b), |x, y| f64::from(x).atan2(f64::from(y)) as $t),
            (
                "powf",
                16,
                |a, b| a.abs().min(9.0).powf(b.min(9.0).max(-9.0)),
                |x, y| f64::from(x.abs().min(9.0)).powf(f64::from(y.min(9.0).max(-9.0))) as $t,
            ),
            ("floor", 0, |a, _| a.floor(), |x, _| x.floor()),
            ("ceil", 0, |a, _| a.ceil(), |x, _| x.ceil()),
            ("trunc", 0, |a, _| a.trunc(), |x, _| x.trunc()),
            ("round_even", 0, |a, _| a.round_even(), |x, _| x.round_ties_even()),
        }
    }};
}

/// Casts from all types that there are.
macro_rules! casts {
    ($table:ident, $arrays:ident, $to:ident, $($inputs:ident)*) => {
        if has::<$to>($arrays) {
            let mut cases: Vec<Case<'_, $to>> = Vec::new();
            $(if let Some(inputs) = &$inputs {
                cases.extend(inputs.cases(&[(concat!("as ", stringify!($to)), 0, |a, _| a.cast(), |x, _| x as $to)]));
            })*
            check(&mut $table, $arrays, &cases);
        }
    };
}

#[test]
fn functions_are_those_of_the_reference() {
    let mut wrong = Vec::new();
    on_every_backend(|arrays| {
        let mut table = Table::default();
        let (f, d) = (Inputs::<f32>::new(arrays), Inputs::<f64>::new(arrays));
        let (i, u) = (Inputs::<i32>::new(arrays), Inputs::<u32>::new(arrays));
        let (l, w) = (Inputs::<i64>::new(arrays), Inputs::<u64>::new(arrays));
        let quotient = if is_exact(arrays) { 0 } else { 3 };
        f.iter().for_each(|f| check(&mut table, arrays, &float!(f: f32, quotient)));
        d.iter().for_each(|d| check(&mut table, arrays, &float!(d: f64, quotient)));
        i.iter().for_each(|i| check(&mut table, arrays, &integer!(i: i32)));
        u.iter().for_each(|u| check(&mut table, arrays, &integer!(u: u32)));
        l.iter().for_each(|l| check(&mut table, arrays, &integer!(l: i64)));
        w.iter().for_each(|w| check(&mut table, arrays, &integer!(w: u64)));
        casts!(table, arrays, f32, f d i u l w);
        casts!(table, arrays, i32, f d i u l w);
        casts!(table, arrays, u32, f d i u l w);
        casts!(table, arrays, i64, f d i u l w);
        casts!(table, arrays, u64, f d i u l w);
        wrong.extend(table.check("units in the last place, at most"));
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn one_kernel_with_many_arrays_numbers_and_types() {
    on_every_language(|arrays| {
        for &len in lengths() {
            let (x, y) = (samples::<f32>(len, 3), samples::<i32>(len, 4));
            let (a, b) = (arrays.from_slice(&x).unwrap(), arrays.from_slice(&y).unwrap());
            let expr = (&a * 2.0 + b.expr().cast::<f32>()).max(&a) - 0.5 * a.expr() + Expr::index().cast::<f32>();
            let mut c = arrays.eval(expr).unwrap();
            let expected: Vec<f32> =
                (0..len).map(|i| (x[i] * 2.0 + y[i] as f32).max(x[i]) - 0.5 * x[i] + i as f32).collect();
            assert_eq!(c.to_vec().unwrap(), expected, "{len}");
            c.assign(&a * 3.0 + 1.0).unwrap();
            c.update(|old| old * 2.0 + &a).unwrap();
            let expected: Vec<f32> = x.iter().map(|x| (x * 3.0 + 1.0) * 2.0 + x).collect();
            assert_eq!(c.to_vec().unwrap(), expected, "{len}");
            // Numbers and indices alone.
            assert_eq!(arrays.tabulate(&[len], 7u32).unwrap().to_vec().unwrap(), vec![7; len]);
            let index = || Expr::index().cast::<u32>();
            let squares = arrays.tabulate(&[len], index() * index()).unwrap().to_vec().unwrap();
            assert!(squares.len() == len && squares.iter().zip(0u32..).all(|(v, i)| *v == i.wrapping_mul(i)));
            if !is_of_wgsl(arrays) {
                let squares = arrays.tabulate(&[len], Expr::index() * Expr::index()).unwrap().to_vec().unwrap();
                assert!(squares.len() == len && squares.iter().zip(0u64..).all(|(v, i)| *v == i * i));
            }
        }
    });
}

#[test]
fn what_occurs_twice_and_long_chains() {
    on_every_language(|arrays| {
        let a = arrays.from_slice(&[1.0f32, 2.0, 3.0]).unwrap();
        // 2^30 additions, were they not shared.
        let shared = (0..30).fold(a.expr(), |e, _| e.clone() + e);
        let scale = (1u64 << 30) as f32;
        assert_eq!(arrays.eval(shared).unwrap().to_vec().unwrap(), [scale, 2.0 * scale, 3.0 * scale]);
        let long = (0..400).fold(a.expr(), |e, i| e + (i % 3) as f32);
        assert_eq!(arrays.eval(long).unwrap().to_vec().unwrap(), [400.0, 401.0, 402.0]);
    });
}
