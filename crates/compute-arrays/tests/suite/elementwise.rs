//! Every function of expressions.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // that NaN is on neither side is what is tested

use crate::table::Table;
use crate::{LENGTHS, Sample, has, is_of_wgsl, on_every_backend, samples};
use compute_arrays::{Array, Arrays, Expr};
use interop_core::Api;

/// Inputs on the host and on the device.
struct Case<'t, T: Sample> {
    table: &'t mut Table,
    arrays: &'t Arrays,
    x: Vec<T>,
    y: Vec<T>,
    a: Array<T>,
    b: Array<T>,
}

impl<'t, T: Sample> Case<'t, T> {
    fn new(table: &'t mut Table, arrays: &'t Arrays) -> Self {
        let (mut x, mut y) = (samples::<T>(5000, 1), samples::<T>(5000, 2));
        for a in T::edges() {
            for b in T::edges() {
                x.push(a);
                y.push(b);
            }
        }
        let (a, b) = (arrays.from_slice(&x).unwrap(), arrays.from_slice(&y).unwrap());
        Self { table, arrays, x, y, a, b }
    }

    /// `expr` against `value`, to so many units in the last place.
    fn check<R: Sample>(
        &mut self,
        name: &str,
        ulp: u64,
        expr: impl for<'a> FnOnce(Expr<'a, T>, Expr<'a, T>) -> Expr<'a, R>,
        value: impl Fn(T, T) -> R,
    ) {
        let found = self.arrays.eval(expr(self.a.expr(), self.b.expr())).unwrap().to_vec().unwrap();
        let flushes = !is_exact(self.arrays);
        let mut worst = (0, String::new());
        for (found, (x, y)) in found.into_iter().zip(self.x.iter().zip(&self.y)) {
            let expected = value(*x, *y);
            let off = if flushes && expected.is_flushed_to(found) { 0 } else { found.distance(expected) };
            if off > worst.0 {
                worst = (off, format!("of {x} and {y} gave {found}, expected {expected}"));
            }
        }
        self.table.add(name, T::KIND.name(), worst.0 as f64, ulp as f64, &worst.1);
    }
}

/// OpenCL and WGSL leave open how a quotient and a root are rounded, and whether subnormal numbers become zero.
fn is_exact(arrays: &Arrays) -> bool {
    arrays.backend().device().api != Api::OpenCl && !is_of_wgsl(arrays)
}

/// What all types have, with the same words for it in Rust.
macro_rules! all_types {
    ($case:ident, $t:ident) => {
        let truth = |t: bool| u8::from(t) as $t;
        $case.check("min", 0, |a, b| a.min(b), |x, y| x.min(y));
        $case.check("max", 0, |a, b| a.max(b), |x, y| x.max(y));
        $case.check("clamp", 0, |a, _| a.clamp(1 as $t, 2 as $t), |x, _| x.max(1 as $t).min(2 as $t));
        $case.check("lt", 0, |a, b| a.lt(b).select(1 as $t, 0 as $t), |x, y| truth(x < y));
        $case.check("le", 0, |a, b| a.le(b).select(1 as $t, 0 as $t), |x, y| truth(x <= y));
        $case.check("gt", 0, |a, b| a.gt(b).select(1 as $t, 0 as $t), |x, y| truth(x > y));
        $case.check("ge", 0, |a, b| a.ge(b).select(1 as $t, 0 as $t), |x, y| truth(x >= y));
        $case.check("equals", 0, |a, b| a.equals(b).cast::<$t>(), |x, y| truth(x == y));
        $case.check("differs", 0, |a, b| a.differs(b).cast::<$t>(), |x, y| truth(x != y));
        $case.check("select", 0, |a, b| a.clone().lt(b.clone()).select(a, b), |x, y| if x < y { x } else { y });
        $case.check(
            "& | ^ !",
            0,
            |a, b| {
                let (p, q) = (a.clone().lt(1 as $t), b.clone().lt(2 as $t));
                ((p & !q) | (a.equals(b) ^ Expr::from(true))).cast::<$t>()
            },
            |x, y| {
                let (p, q) = (x < 1 as $t, y < 2 as $t);
                truth((p && !q) | (x != y))
            },
        );
        $case.check("as f32", 0, |a, _| a.cast::<f32>(), |x, _| x as f32);
        $case.check("as i32", 0, |a, _| a.cast::<i32>(), |x, _| x as i32);
        $case.check("as u32", 0, |a, _| a.cast::<u32>(), |x, _| x as u32);
        if !is_of_wgsl($case.arrays) {
            $case.check("as i64", 0, |a, _| a.cast::<i64>(), |x, _| x as i64);
            $case.check("as u64", 0, |a, _| a.cast::<u64>(), |x, _| x as u64);
        }
    };
}

macro_rules! integer {
    ($table:ident, $arrays:ident, $($t:ident)*) => {$(if has::<$t>($arrays) {
        let mut case = Case::<$t>::new(&mut $table, $arrays);
        all_types!(case, $t);
        case.check("+", 0, |a, b| a + b, $t::wrapping_add);
        case.check("-", 0, |a, b| a - b, $t::wrapping_sub);
        case.check("*", 0, |a, b| a * b, $t::wrapping_mul);
        case.check("/", 0, |a, b| a / b, |x, y| if y == 0 { 0 } else { x.wrapping_div(y) });
        case.check("%", 0, |a, b| a % b, |x, y| if y == 0 { 0 } else { x.wrapping_rem(y) });
        case.check("neg", 0, |a, _| -a, |x, _| x.wrapping_neg());
        case.check("abs", 0, |a, _| a.abs(), |x, _| if x < 1 { (0 as $t).wrapping_sub(x) } else { x });
        case.check("and", 0, |a, b| a & b, |x, y| x & y);
        case.check("or", 0, |a, b| a | b, |x, y| x | y);
        case.check("xor", 0, |a, b| a ^ b, |x, y| x ^ y);
        case.check("shl", 0, |a, b| a << b, |x, y| x.wrapping_shl(y as u32));
        case.check("shr", 0, |a, b| a >> b, |x, y| x.wrapping_shr(y as u32));
    })*};
}

macro_rules! float {
    ($table:ident, $arrays:ident, $t:ident, $exact:expr) => {{
        let mut case = Case::<$t>::new(&mut $table, $arrays);
        all_types!(case, $t);
        let wide = |x: $t| f64::from(x);
        case.check("+", 0, |a, b| a + b, |x, y| x + y);
        case.check("-", 0, |a, b| a - b, |x, y| x - y);
        case.check("*", 0, |a, b| a * b, |x, y| x * y);
        case.check("a * b + a", 0, |a, b| a.clone() * b + a, |x, y| x * y + x);
        case.check("/", if $exact { 0 } else { 3 }, |a, b| a / b, |x, y| x / y);
        case.check("%", 0, |a, b| a % b, |x, y| x % y);
        case.check("neg", 0, |a, _| -a, |x, _| -x);
        case.check("abs", 0, |a, _| a.abs(), |x, _| x.abs());
        case.check("mul_add", 0, |a, b| a.clone().mul_add(b, a), |x, y| x.mul_add(y, x));
        case.check("sqrt", if $exact { 0 } else { 3 }, |a, _| a.sqrt(), |x, _| x.sqrt());
        case.check("exp", 4, |a, _| a.min(80.0).max(-80.0).exp(), |x, _| wide(x.min(80.0).max(-80.0)).exp() as $t);
        case.check("ln", 4, |a, _| a.abs().ln(), |x, _| wide(x.abs()).ln() as $t);
        let small = |x: $t| if x.abs() < 1e5 { x } else { 1.0 };
        fn kept(a: Expr<'_, $t>) -> Expr<'_, $t> {
            a.clone().abs().lt(1e5).select(a, 1.0)
        }
        case.check("sin", 4, |a, _| kept(a).sin(), |x, _| wide(small(x)).sin() as $t);
        case.check("cos", 4, |a, _| kept(a).cos(), |x, _| wide(small(x)).cos() as $t);
        case.check("tan", 6, |a, _| kept(a).tan(), |x, _| wide(small(x)).tan() as $t);
        case.check("tanh", 6, |a, _| kept(a).tanh(), |x, _| wide(small(x)).tanh() as $t);
        case.check("atan2", 6, |a, b| a.atan2(b), |x, y| wide(x).atan2(wide(y)) as $t);
        case.check(
            "powf",
            16,
            |a, b| a.abs().min(9.0).powf(b.min(9.0).max(-9.0)),
            |x, y| wide(x.abs().min(9.0)).powf(wide(y.min(9.0).max(-9.0))) as $t,
        );
        case.check("floor", 0, |a, _| a.floor(), |x, _| x.floor());
        case.check("ceil", 0, |a, _| a.ceil(), |x, _| x.ceil());
        case.check("trunc", 0, |a, _| a.trunc(), |x, _| x.trunc());
        case.check("round_even", 0, |a, _| a.round_even(), |x, _| x.round_ties_even());
    }};
}

#[test]
fn functions_are_those_of_the_reference() {
    let mut wrong = Vec::new();
    on_every_backend(|arrays| {
        let mut table = Table::default();
        integer!(table, arrays, i32 u32 i64 u64);
        let exact = is_exact(arrays);
        float!(table, arrays, f32, exact);
        if has::<f64>(arrays) {
            float!(table, arrays, f64, exact);
        }
        wrong.extend(table.check("units in the last place, at most"));
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn one_kernel_with_many_arrays_numbers_and_types() {
    on_every_backend(|arrays| {
        for len in LENGTHS {
            let (x, y) = (samples::<f32>(len, 3), samples::<i32>(len, 4));
            let (a, b) = (arrays.from_slice(&x).unwrap(), arrays.from_slice(&y).unwrap());
            let expr = (&a * 2.0 + b.expr().cast::<f32>()).max(&a) - 0.5 * a.expr() + Expr::index().cast::<f32>();
            let found = arrays.eval(expr.clone()).unwrap();
            let expected: Vec<f32> =
                (0..len).map(|i| (x[i] * 2.0 + y[i] as f32).max(x[i]) - 0.5 * x[i] + i as f32).collect();
            assert_eq!(found.to_vec().unwrap(), expected, "{len}");
            // Again with other numbers: the same kernel.
            let mut c = found;
            c.assign(&a * 3.0 + 1.0).unwrap();
            c.update(|old| old * 2.0 + &a).unwrap();
            let expected: Vec<f32> = x.iter().map(|x| (x * 3.0 + 1.0) * 2.0 + x).collect();
            assert_eq!(c.to_vec().unwrap(), expected, "{len}");
        }
    });
}

#[test]
fn arrays_are_made_of_numbers_and_indices() {
    on_every_backend(|arrays| {
        for len in LENGTHS {
            let sevens = arrays.tabulate(&[len], 7u32).unwrap();
            assert!(sevens.len() == len && sevens.to_vec().unwrap().iter().all(|v| *v == 7));
            let index = || Expr::index().cast::<u32>();
            let squares = arrays.tabulate(&[len], index() * index()).unwrap();
            assert!(squares.to_vec().unwrap().iter().zip(0u32..).all(|(v, i)| *v == i.wrapping_mul(i)));
            if !has::<u64>(arrays) {
                continue;
            }
            let squares = arrays.tabulate(&[len], Expr::index() * Expr::index()).unwrap();
            assert!(squares.to_vec().unwrap().iter().enumerate().all(|(i, v)| *v == (i * i) as u64));
        }
    });
}

#[test]
fn what_occurs_twice_and_long_chains() {
    on_every_backend(|arrays| {
        let a = arrays.from_slice(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut e = a.expr();
        // 2^30 additions, were they not shared.
        for _ in 0..30 {
            e = e.clone() + e;
        }
        let scale = (1u64 << 30) as f32;
        assert_eq!(arrays.eval(e).unwrap().to_vec().unwrap(), [scale, 2.0 * scale, 3.0 * scale]);
        let mut e = a.expr();
        for i in 0..400 {
            e = e + (i % 3) as f32;
        }
        assert_eq!(arrays.eval(e).unwrap().to_vec().unwrap(), [400.0, 401.0, 402.0]);
    });
}
