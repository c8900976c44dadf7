//! Running values against plain loops.

use crate::suite::sample::worst;
use crate::suite::table::Table;
use crate::suite::{Sample, has, is_a_device, is_of_wgsl, lengths, on_every_language, samples};
use compute_arrays::{Arrays, Expr, Float, Integer, Monoid, Philox, Scan};
use pixelferry_testing::{Level, by_level, level};
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

/// Elements of a long scan. From the second level on more than twice the tiles that CUDA's scan counts as a block. Drivers of
/// OpenGL that are CPUs clear the memory of each group first, and take a second for a million.
fn long(arrays: &Arrays) -> usize {
    let by_opengl = is_of_wgsl(arrays) && !arrays.backend().device().driver.contains("vulkan");
    if by_opengl { 600_001 } else { by_level(600_001, 9_000_001, 9_000_001) }
}

const BOTH: [(&str, Scan); 2] = [("inclusive", Scan::Inclusive), ("exclusive", Scan::Exclusive)];

fn integers<T: Sample + Integer>(arrays: &Arrays, table: &mut Table) {
    if !has::<T>(arrays) {
        return;
    }
    let zero = T::of(0);
    // The last that is not zero: associative, but not commutative.
    let last = Monoid::new(zero, |a, b| b.clone().differs(zero).select(b, a)).unwrap();
    type Operation<'f, T> = (&'static str, Monoid<T>, &'f dyn Fn(T, T) -> T);
    let operations: [Operation<'_, T>; 3] = [
        ("sum", Monoid::sum(), &T::plus),
        ("max", Monoid::max(), &|a, b| if a < b { b } else { a }),
        ("own: last", last, &|a, b| if b == zero { a } else { b }),
    ];
    for &len in lengths() {
        let x = samples::<T>(len, 9);
        let a = arrays.from_slice(&x).unwrap();
        for ((name, monoid, f), (which, scan)) in operations.iter().flat_map(|op| BOTH.map(|scan| (op, scan))) {
            let found = a.expr().scan(monoid, scan).unwrap().to_vec().unwrap();
            let off = worst(&found, &reference(&x, monoid.identity(), scan, f));
            table.add(&format!("{name} {which}"), T::KIND.name(), off, 0.0, &format!("{len} elements"));
        }
    }
}

fn floats<T: Sample + Float + Into<f64>>(arrays: &Arrays, table: &mut Table, epsilon: f64) {
    if !has::<T>(arrays) {
        return;
    }
    for (len, (which, scan)) in lengths().iter().copied().flat_map(|len| BOTH.map(|scan| (len, scan))) {
        let (x, at) = (samples::<T>(len, 10), format!("{len} elements"));
        let a = arrays.from_slice(&x).unwrap();
        // With an expression before it, in the same kernel.
        let found = (&a * T::of(2)).scan(&Monoid::sum(), scan).unwrap().to_vec().unwrap();
        let wide: Vec<f64> = x.iter().map(|v| 2.0 * (*v).into()).collect();
        let exact = reference(&wide, 0.0, scan, |a, b| a + b);
        let size = reference(&wide, 0.0, scan, |a, b| a + b.abs());
        let off = found.iter().zip(exact.iter().zip(size)).map(|(found, (exact, size))| {
            let off = ((*found).into() - exact).abs();
            if off == 0.0 { 0.0 } else { off / ((len as f64 / 4096.0 + 80.0) * epsilon * size) }
        });
        table.add(&format!("sum {which}"), T::KIND.name(), off.fold(0.0, f64::max), 1.0, &at);
        let least = Monoid::<T>::min();
        let found = a.expr().scan(&least, scan).unwrap().to_vec().unwrap();
        // The identity is NaN, which is not less than anything.
        let off = worst(&found, &reference(&x, least.identity(), scan, |a, b| if a < b { a } else { b }));
        table.add(&format!("min {which}"), T::KIND.name(), off, 0.0, &at);
    }
}

#[test]
fn scans_are_those_of_the_reference() {
    let mut wrong = Vec::new();
    on_every_language(|arrays| {
        let mut table = Table::default();
        // At the shortest level floats are scanned in WGSL, and integers in C.
        let all = !is_a_device(arrays) || level() > Level::Short;
        if all || is_of_wgsl(arrays) {
            floats::<f32>(arrays, &mut table, f32::EPSILON.into());
        }
        if all || !is_of_wgsl(arrays) {
            integers::<u64>(arrays, &mut table);
        }
        if all {
            integers::<i32>(arrays, &mut table);
            integers::<u32>(arrays, &mut table);
            integers::<i64>(arrays, &mut table);
            floats::<f64>(arrays, &mut table, f64::EPSILON);
        }
        wrong.extend(table.check("scans: differences, float sums in parts of what is allowed"));
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn long_scans_are_those_of_the_reference_and_the_same_in_every_run() {
    on_every_language(|arrays| {
        // -2, -1, 0, 1, 2 again and again: sums of floats are exact in any order.
        let mut a = arrays.tabulate(&[long(arrays)], (Expr::index().cast::<u32>() % 5).cast::<f32>() - 2.0).unwrap();
        for (scan, sums) in
            [(Scan::Inclusive, [-2.0, -3.0, -3.0, -2.0, 0.0]), (Scan::Exclusive, [0.0, -2.0, -3.0, -3.0, -2.0])]
        {
            let found = a.expr().scan(&Monoid::sum(), scan).unwrap().to_vec().unwrap();
            let wrong = found.iter().zip(sums.iter().cycle()).position(|(f, e)| f != e);
            assert_eq!((found.len(), wrong), (long(arrays), None), "{scan:?}");
        }
        Philox::new(11).uniform(&mut a).unwrap();
        let bits = || a.expr().cumulative_sum().unwrap().to_vec().unwrap().into_iter().map(f32::to_bits);
        let first: Vec<u32> = bits().collect();
        assert!((0..by_level(1, 4, 4)).all(|_| bits().eq(first.iter().copied())));
        if is_a_device(arrays) && level() == Level::Short {
            return;
        }
        let a = arrays.tabulate(&[long(arrays)], Expr::index().cast::<u32>()).unwrap();
        let found = a.expr().cumulative_sum().unwrap().to_vec().unwrap();
        assert_eq!((0u64..).zip(found).find(|(i, sum)| *sum != (i * (i + 1) / 2) as u32), None);
        if has::<u64>(arrays) {
            let a = arrays.tabulate(&[long(arrays)], Expr::index()).unwrap();
            let found = a.expr().cumulative_sum().unwrap().to_vec().unwrap();
            assert_eq!((0..).zip(found).find(|(i, sum)| *sum != i * (i + 1) / 2), None);
        }
    });
}

#[test]
fn lengths_and_shapes_of_any_size() {
    on_every_language(|arrays| {
        let config = Config { cases: by_level(6, 24, 24), failure_persistence: None, ..Config::default() };
        // One column has kernels of its own.
        let lengths = (0usize..40_000, by_level(2usize, 1, 1)..5, prop::sample::select(BOTH.to_vec()));
        let ran = TestRunner::new(config).run(&lengths, |(len, columns, (_, scan))| {
            let x = samples::<u32>(len * columns, 12);
            let a = arrays.from_slice(&x).unwrap().reshape(&[len, columns]).unwrap();
            // Down the columns first: the transposed order.
            let view = a.view().transpose();
            let turned: Vec<u32> = (0..columns).flat_map(|c| x.iter().skip(c).step_by(columns).copied()).collect();
            let scanned = view.clone().expr().scan(&Monoid::sum(), scan).unwrap();
            prop_assert_eq!(scanned.shape(), [columns, len]);
            prop_assert_eq!(scanned.to_vec().unwrap(), reference(&turned, 0, scan, u32::wrapping_add));
            prop_assert_eq!(view.expr().sum().unwrap(), x.iter().fold(0, |a: u32, b| a.wrapping_add(*b)));
            Ok(())
        });
        ran.unwrap();
    });
}
