//! Running values against plain loops.

use crate::table::Table;
use crate::{LENGTHS, Sample, has, is_of_wgsl, on_every_backend, samples};
use compute_arrays::{Arrays, Expr, Monoid, Philox, Scan};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn reference<T: Copy>(x: &[T], identity: T, scan: Scan, f: impl Fn(T, T) -> T) -> Vec<T> {
    let mut running = identity;
    x.iter()
        .map(|v| {
            let before = running;
            running = f(running, *v);
            if scan == Scan::Inclusive { running } else { before }
        })
        .collect()
}

/// More than twice the tiles that CUDA's scan counts as a block.
const LONG: usize = 9_000_001;

/// Drivers of OpenGL that are CPUs clear the memory of each group first, and take a second for a million.
fn long(arrays: &Arrays) -> usize {
    let by_opengl = is_of_wgsl(arrays) && !arrays.backend().device().driver.contains("vulkan");
    if by_opengl { 600_001 } else { LONG }
}

const BOTH: [(&str, Scan); 2] = [("inclusive", Scan::Inclusive), ("exclusive", Scan::Exclusive)];

macro_rules! integers {
    ($table:ident, $arrays:ident, $($t:ident)*) => {$(if has::<$t>($arrays) {
        for (name, scan) in BOTH {
            for len in LENGTHS {
                let x = samples::<$t>(len, 9);
                let a = $arrays.from_slice(&x).unwrap();
                let mut check = |op: &str, monoid: Monoid<$t>, f: fn($t, $t) -> $t| {
                    let found = a.expr().scan(&monoid, scan).unwrap().to_vec().unwrap();
                    let expected = reference(&x, monoid.identity(), scan, f);
                    let off = found.iter().zip(&expected).map(|(f, e)| f.distance(*e)).max().unwrap_or(0);
                    let op = format!("{op} {name}");
                    $table.add(&op, stringify!($t), off as f64, 0.0, &format!("{len} elements"));
                    assert_eq!(found.len(), len);
                };
                check("sum", Monoid::sum(), $t::wrapping_add);
                check("max", Monoid::max(), Ord::max);
                // The last that is not zero: associative, but not commutative.
                let last = Monoid::new(0 as $t, |a, b| b.clone().differs(0 as $t).select(b, a)).unwrap();
                check("own: last", last, |a, b| if b != 0 { b } else { a });
            }
        }
    })*};
}

macro_rules! floats {
    ($table:ident, $arrays:ident, $($t:ident)*) => {$(
        for (name, scan) in BOTH {
            for len in LENGTHS {
                let x = samples::<$t>(len, 10);
                let a = $arrays.from_slice(&x).unwrap();
                // With an expression before it, in the same kernel.
                let found = (&a * 2.0).scan(&Monoid::sum(), scan).unwrap().to_vec().unwrap();
                let wide: Vec<f64> = x.iter().map(|v| 2.0 * f64::from(*v)).collect();
                let exact = reference(&wide, 0.0, scan, |a, b| a + b);
                let size = reference(&wide, 0.0, scan, |a, b| a + b.abs());
                let mut worst = 0.0f64;
                for ((f, e), s) in found.iter().zip(&exact).zip(&size) {
                    let off = (f64::from(*f) - e).abs();
                    let allowed = (len as f64 / 4096.0 + 80.0) * f64::from($t::EPSILON) * s;
                    worst = worst.max(if off == 0.0 { 0.0 } else { off / allowed });
                }
                $table.add(&format!("sum {name}"), stringify!($t), worst, 1.0, &format!("{len} elements"));
                let found = a.expr().scan(&Monoid::min(), scan).unwrap().to_vec().unwrap();
                let expected = reference(&x, $t::NAN, scan, $t::min);
                let off = found.iter().zip(&expected).map(|(f, e)| f.distance(*e)).max().unwrap_or(0);
                $table.add(&format!("min {name}"), stringify!($t), off as f64, 0.0, &format!("{len} elements"));
            }
        }
    )*};
}

fn all(arrays: &Arrays) -> Vec<String> {
    let mut table = Table::default();
    integers!(table, arrays, i32 u32 i64 u64);
    floats!(table, arrays, f32);
    if has::<f64>(arrays) {
        floats!(table, arrays, f64);
    }
    table.check("scans: differences, float sums in parts of what is allowed")
}

#[test]
fn scans_are_those_of_the_reference() {
    let mut wrong = Vec::new();
    on_every_backend(|arrays| {
        wrong.extend(all(arrays));
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn float_scans_are_the_same_in_every_run() {
    on_every_backend(|arrays| {
        let mut a = arrays.empty::<f32>(&[long(arrays)]).unwrap();
        Philox::new(11).uniform(&mut a).unwrap();
        let bits = || a.expr().cumulative_sum().unwrap().to_vec().unwrap().into_iter().map(f32::to_bits);
        let first: Vec<u32> = bits().collect();
        assert!((0..4).all(|_| bits().eq(first.iter().copied())));
    });
}

#[test]
fn long_scans_are_those_of_the_reference() {
    on_every_backend(|arrays| {
        // -2, -1, 0, 1, 2 again and again: sums of floats are exact in any order.
        let a = arrays.tabulate(&[long(arrays)], (Expr::index().cast::<u32>() % 5).cast::<f32>() - 2.0).unwrap();
        for (scan, sums) in
            [(Scan::Inclusive, [-2.0, -3.0, -3.0, -2.0, 0.0]), (Scan::Exclusive, [0.0, -2.0, -3.0, -3.0, -2.0])]
        {
            let found = a.expr().scan(&Monoid::sum(), scan).unwrap().to_vec().unwrap();
            let wrong = found.iter().zip(sums.iter().cycle()).position(|(f, e)| f != e);
            assert_eq!((found.len(), wrong), (long(arrays), None), "{scan:?}");
        }
        let a = arrays.tabulate(&[long(arrays)], Expr::index().cast::<u32>()).unwrap();
        let found = a.expr().cumulative_sum().unwrap().to_vec().unwrap();
        assert_eq!((0u64..).zip(found).find(|(i, sum)| *sum != (i * (i + 1) / 2) as u32), None);
        if has::<u64>(arrays) {
            let a = arrays.tabulate(&[LONG], Expr::index()).unwrap();
            let found = a.expr().cumulative_sum().unwrap().to_vec().unwrap();
            assert_eq!((0..).zip(found).find(|(i, sum)| *sum != i * (i + 1) / 2), None);
        }
    });
}

#[test]
fn lengths_and_shapes_of_any_size() {
    on_every_backend(|arrays| {
        let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
        let lengths = (0usize..40_000, 1usize..5, any::<bool>());
        runner
            .run(&lengths, |(len, columns, exclusive)| {
                let x = samples::<u32>(len * columns, 12);
                let a = arrays.from_slice(&x).unwrap().reshape(&[len, columns]).unwrap();
                let scan = if exclusive { Scan::Exclusive } else { Scan::Inclusive };
                // Down the columns first: the transposed order.
                let view = a.view().transpose();
                let turned: Vec<u32> = (0..columns).flat_map(|c| x.iter().skip(c).step_by(columns).copied()).collect();
                let turned = &turned[..len * columns];
                let scanned = view.clone().expr().scan(&Monoid::sum(), scan).unwrap();
                prop_assert_eq!(scanned.shape(), [columns, len]);
                prop_assert_eq!(scanned.to_vec().unwrap(), reference(turned, 0, scan, u32::wrapping_add));
                prop_assert_eq!(view.expr().sum().unwrap(), x.iter().fold(0, |a: u32, b| a.wrapping_add(*b)));
                Ok(())
            })
            .unwrap();
    });
}
