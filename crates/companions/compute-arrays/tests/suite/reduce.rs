//! Sums, extrema and the user's own, against plain loops.

use crate::suite::table::Table;
use crate::suite::{Sample, has, is_a_device, is_of_wgsl, lengths, on_every_language, samples};
use compute_arrays::{Arrays, Expr, Float, Integer, Monoid};
use interop_core::Error;
use pixelferry_testing::{Level, Need, asked, level};
use std::ops::BitXor;

/// Off by how many parts of what is allowed.
fn sum_error(found: f64, values: &[f64], epsilon: f64) -> f64 {
    // Neumaier's sum, exact enough to judge binary64.
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for v in values {
        let next = sum + v;
        lost += if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    let (exact, size) = (sum + lost, values.iter().map(|v| v.abs()).sum::<f64>());
    let allowed = (values.len() as f64 / f64::from(1 << 21) + 40.0) * epsilon * size;
    if found == exact { 0.0 } else { (found - exact).abs() / allowed }
}

fn same<T: Sample>(table: &mut Table, name: &str, len: usize, found: T, expected: T) {
    let at = format!("{len} elements: {found}, expected {expected}");
    table.add(name, T::KIND.name(), found.distance(expected) as f64, 0.0, &at);
}

fn extrema<T: Sample>(arrays: &Arrays, table: &mut Table) {
    if !has::<T>(arrays) {
        return;
    }
    // Values that are not equal to themselves, where the type has them.
    if let Some(nan) = T::edges().into_iter().find(|v| v.partial_cmp(v).is_none()) {
        let nan = arrays.from_slice(&[nan; 1000]).unwrap();
        assert!([nan.minimum().unwrap(), nan.maximum().unwrap()].iter().all(|v| v.partial_cmp(v).is_none()));
        assert_eq!((nan.argmin().unwrap(), nan.argmax().unwrap()), (0, 0));
    }
    for (len, with_edges) in [1, 2, 3, 257, 300_007].into_iter().flat_map(|len| [(len, false), (len, true)]) {
        let mut x = samples::<T>(len, 5);
        if with_edges {
            // Not at the start, so that nothing is found there by luck.
            let at = len.saturating_sub(T::edges().len());
            x[at..].iter_mut().zip(T::edges()).for_each(|(slot, v)| *slot = v);
        }
        let a = arrays.from_slice(&x).unwrap();
        let numbers = || x.iter().copied().enumerate().filter(|(_, v)| v.partial_cmp(v).is_some());
        let least = numbers().reduce(|a, b| if b.1 < a.1 { b } else { a }).unwrap_or((0, x[0]));
        let most = numbers().reduce(|a, b| if b.1 > a.1 { b } else { a }).unwrap_or((0, x[0]));
        same(table, "minimum", len, a.minimum().unwrap(), least.1);
        same(table, "maximum", len, a.maximum().unwrap(), most.1);
        let mut place = |name: &str, found: u64, expected: usize| {
            let at = format!("{len} elements: {found}, expected {expected}");
            table.add(name, T::KIND.name(), found.abs_diff(expected as u64) as f64, 0.0, &at);
        };
        place("argmin", a.argmin().unwrap(), least.0);
        place("argmax", a.argmax().unwrap(), most.0);
    }
}

fn integers<T: Sample + Integer + BitXor<Output = T>>(arrays: &Arrays, table: &mut Table) {
    if !has::<T>(arrays) {
        return;
    }
    let (one, three) = (T::of(1), T::of(3));
    let xor = Monoid::new(T::of(0), |a, b| a ^ b).unwrap();
    for &len in lengths() {
        let x = samples::<T>(len, 6);
        let a = arrays.from_slice(&x).unwrap();
        let mut check = |name: &str, found: T, start: T, f: &dyn Fn(T, T) -> T| {
            same(table, name, len, found, x.iter().copied().fold(start, f));
        };
        check("sum", a.sum().unwrap(), T::of(0), &T::plus);
        let few = |v: T| if v < one { one } else { v };
        let few = |v: T| if few(v) > three { three } else { few(v) };
        check("product", a.expr().max(one).min(three).product().unwrap(), one, &|p, v| p.times(few(v)));
        check("own: xor", a.expr().reduce(&xor).unwrap(), T::of(0), &|a, b| a ^ b);
        check("dot", (&a * &a).sum().unwrap(), T::of(0), &|s, v| s.plus(v.times(v)));
    }
}

fn floats<T: Sample + Float + Into<f64>>(arrays: &Arrays, table: &mut Table, epsilon: f64) {
    if !has::<T>(arrays) {
        return;
    }
    let (one, kind) = (T::of(1), T::KIND.name());
    let hypot = Monoid::new(T::of(0), |a, b| (a.clone() * a + b.clone() * b).sqrt()).unwrap();
    for &len in lengths() {
        let x = samples::<T>(len, 7);
        let a = arrays.from_slice(&x).unwrap();
        let wide: Vec<f64> = x.iter().map(|v| (*v).into()).collect();
        let squares: Vec<f64> = x.iter().map(|v| v.times(*v).into()).collect();
        let at = format!("{len} elements");
        let sum = a.sum().unwrap();
        table.add("sum", kind, sum_error(sum.into(), &wide, epsilon), 1.0, &at);
        let dot = (&a * &a).sum().unwrap();
        table.add("dot", kind, sum_error(dot.into(), &squares, epsilon), 1.0, &at);
        let product = a.expr().lt(T::of(0)).select(-Expr::constant(one), one).product().unwrap();
        let odd = wide.iter().filter(|v| **v < 0.0).count() % 2 == 1;
        table.add("product", kind, (product.into() - if odd { -1.0 } else { 1.0 }).abs(), 0.0, &at);
        let norm: f64 = a.expr().abs().reduce(&hypot).unwrap().into();
        let exact = squares.iter().sum::<f64>().sqrt();
        table.add("own: hypot", kind, (norm - exact).abs() / (1e3 * epsilon * exact).max(1e-30), 1.0, &at);
        assert!((0..5).all(|_| a.sum().unwrap() == sum), "{len} elements have another sum in another run");
    }
}

#[test]
fn reductions_are_those_of_the_reference() {
    let mut wrong = Vec::new();
    on_every_language(|arrays| {
        let table = &mut Table::default();
        // At the shortest level a device does each operation on one type.
        let all = !is_a_device(arrays) || level() > Level::Short;
        if all || is_of_wgsl(arrays) {
            integers::<i32>(arrays, table);
            extrema::<f32>(arrays, table);
        }
        if all || !is_of_wgsl(arrays) {
            floats::<f32>(arrays, table, f32::EPSILON.into());
            extrema::<u64>(arrays, table);
        }
        if all {
            integers::<u32>(arrays, table);
            integers::<i64>(arrays, table);
            integers::<u64>(arrays, table);
            floats::<f64>(arrays, table, f64::EPSILON);
            extrema::<i32>(arrays, table);
            extrema::<u32>(arrays, table);
            extrema::<i64>(arrays, table);
            extrema::<f64>(arrays, table);
        }
        wrong.extend(std::mem::take(table).check("reductions: differences, float sums in parts of what is allowed"));
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn results_stay_on_the_device_where_they_are_wanted_there() {
    on_every_language(|arrays| {
        let a = arrays.from_slice(&[1.0f32, 2.0, 3.0]).unwrap();
        let mut sum = arrays.empty::<f32>(&[]).unwrap();
        a.expr().reduce_into(&Monoid::sum(), &mut sum).unwrap();
        let scaled = arrays.eval(&a / sum.view().broadcast_to(&[3]).unwrap()).unwrap();
        let found = scaled.to_vec().unwrap();
        assert!(found.iter().zip([1.0, 2.0, 3.0]).all(|(f, x)| (f - x / 6.0).abs() < 1e-6), "{found:?}");
        let mut two = arrays.empty::<f32>(&[2]).unwrap();
        assert!(matches!(a.expr().reduce_into(&Monoid::sum(), &mut two), Err(Error::InvalidInput { .. })));
        arrays.empty::<f32>(&[0]).unwrap().expr().reduce_into(&Monoid::product(), &mut sum).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [1.0]);
    });
}

/// More elements than 32 bits can count.
#[test]
fn beyond_four_billion() {
    // It takes 17 GiB of the GPU's memory.
    if !asked(Need::Nvidia) {
        return;
    }
    let backend = cuda_backend::CudaBackend::open_best().unwrap();
    let arrays = Arrays::new(std::sync::Arc::new(backend)).unwrap();
    let len = (1usize << 32) + 12_345;
    let mut a = arrays.tabulate(&[len], Expr::index().cast::<u32>() & Expr::from(1u32)).unwrap();
    assert_eq!(a.expr().cast::<u64>().sum().unwrap(), len as u64 / 2);
    let scanned = a.expr().cumulative_sum().unwrap();
    assert_eq!(scanned.view().item(&[len - 1]).unwrap(), (len / 2) as u32);
    assert_eq!(scanned.view().item(&[1 << 32]).unwrap(), 1 << 31);
    drop(scanned);
    let at = (1 << 32) + 7u64;
    a.assign(Expr::index().equals(at).cast::<u32>()).unwrap();
    assert_eq!(a.argmax().unwrap(), at);
    assert_eq!(a.view().slice_step(0, 0..len, -1).unwrap().expr().argmax().unwrap(), len as u64 - 1 - at);
    assert_eq!(a.view().slice_step(0, 7..len, 1 << 30).unwrap().to_vec().unwrap(), [0, 0, 0, 0, 1]);
}
