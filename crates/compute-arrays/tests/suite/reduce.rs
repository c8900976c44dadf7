//! Sums, extrema and the user's own, against plain loops.

use crate::table::Table;
use crate::{LENGTHS, Sample, has, on_every_backend, samples};
use compute_arrays::{Arrays, Expr, Monoid};
use interop_core::Error;
use pixelferry_testing::{Need, asked};

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

fn extrema<T: Sample>(arrays: &Arrays, table: &mut Table, with_edges: bool) {
    for len in [1, 2, 3, 257, 300_007] {
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
        let kind = T::KIND.name();
        let mut add = |name: &str, off: u64| table.add(name, kind, off as f64, 0.0, &format!("{len} elements"));
        add("minimum", a.minimum().unwrap().distance(least.1));
        add("maximum", a.maximum().unwrap().distance(most.1));
        add("argmin", a.argmin().unwrap().abs_diff(least.0 as u64));
        add("argmax", a.argmax().unwrap().abs_diff(most.0 as u64));
    }
}

macro_rules! integers {
    ($table:ident, $arrays:ident, $($t:ident)*) => {$(if has::<$t>($arrays) {
        for len in LENGTHS {
            let x = samples::<$t>(len, 6);
            let a = $arrays.from_slice(&x).unwrap();
            let mut check = |name: &str, found: $t, expected: $t| {
                let at = format!("{len} elements: {found}, expected {expected}");
                $table.add(name, stringify!($t), found.distance(expected) as f64, 0.0, &at);
            };
            let fold = |f: fn($t, $t) -> $t, start: $t| x.iter().copied().fold(start, f);
            check("sum", a.sum().unwrap(), fold($t::wrapping_add, 0));
            check("product", a.expr().max(1).min(3).product().unwrap(), x.iter().fold(1, |p: $t, v| p.wrapping_mul((*v).max(1).min(3))));
            let xor = Monoid::new(0 as $t, |a, b| a ^ b).unwrap();
            check("own: xor", a.expr().reduce(&xor).unwrap(), fold(|a, b| a ^ b, 0));
            let dot = (&a * &a).sum().unwrap();
            check("dot", dot, x.iter().fold(0, |s: $t, v| s.wrapping_add(v.wrapping_mul(*v))));
        }
        extrema::<$t>($arrays, &mut $table, false);
        extrema::<$t>($arrays, &mut $table, true);
    })*};
}

macro_rules! floats {
    ($table:ident, $arrays:ident, $($t:ident)*) => {$(
        for len in LENGTHS {
            let x = samples::<$t>(len, 7);
            let a = $arrays.from_slice(&x).unwrap();
            let wide: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
            let at = format!("{len} elements");
            let off = sum_error(f64::from(a.sum().unwrap()), &wide, f64::from($t::EPSILON));
            $table.add("sum", stringify!($t), off, 1.0, &at);
            let dot = (&a * &a).sum().unwrap();
            let squares: Vec<f64> = x.iter().map(|v| f64::from(*v * *v)).collect();
            $table.add("dot", stringify!($t), sum_error(f64::from(dot), &squares, f64::from($t::EPSILON)), 1.0, &at);
            let product = a.expr().lt(0.0).select(-1.0 as $t, 1.0 as $t).product().unwrap();
            let expected: $t = if x.iter().filter(|v| **v < 0.0).count() % 2 == 0 { 1.0 } else { -1.0 };
            $table.add("product", stringify!($t), product.distance(expected) as f64, 0.0, &at);
            let hypot = Monoid::new(0.0 as $t, |a, b| (a.clone() * a + b.clone() * b).sqrt()).unwrap();
            let norm = f64::from(a.expr().abs().reduce(&hypot).unwrap());
            let exact = squares.iter().sum::<f64>().sqrt();
            let allowed = 1e3 * f64::from($t::EPSILON) * exact;
            $table.add("own: hypot", stringify!($t), (norm - exact).abs() / allowed.max(1e-30), 1.0, &at);
        }
        extrema::<$t>($arrays, &mut $table, false);
        extrema::<$t>($arrays, &mut $table, true);
        let nan = $arrays.from_slice(&[$t::NAN; 1000]).unwrap();
        assert!(nan.minimum().unwrap().is_nan() && nan.maximum().unwrap().is_nan());
        assert_eq!((nan.argmin().unwrap(), nan.argmax().unwrap()), (0, 0));
    )*};
}

#[test]
fn reductions_are_those_of_the_reference() {
    let mut wrong = Vec::new();
    on_every_backend(|arrays| {
        let mut table = Table::default();
        integers!(table, arrays, i32 u32 i64 u64);
        floats!(table, arrays, f32);
        if has::<f64>(arrays) {
            floats!(table, arrays, f64);
        }
        wrong.extend(table.check("reductions: differences, float sums in parts of what is allowed"));
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn results_stay_on_the_device_where_they_are_wanted_there() {
    on_every_backend(|arrays| {
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

#[test]
fn no_elements_have_no_extremum() {
    on_every_backend(|arrays| {
        let none = arrays.empty::<i32>(&[3, 0]).unwrap();
        assert_eq!((none.sum().unwrap(), none.product().unwrap()), (0, 1));
        for result in [none.minimum().map(|_| 0), none.maximum().map(|_| 0), none.argmin(), none.argmax()] {
            assert!(matches!(result, Err(Error::InvalidInput { .. })));
        }
    });
}

#[test]
fn the_same_in_every_run() {
    on_every_backend(|arrays| {
        let a = arrays.from_slice(&samples::<f32>(200_003, 8)).unwrap();
        let first = a.sum().unwrap();
        assert!((0..5).all(|_| a.sum().unwrap().to_bits() == first.to_bits()));
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
