//! The scan in one pass without a GPU: PoCL begins groups in the order of their numbers and runs each to its end, so a group
//! never waits for one that waits for its thread. Mesa's llvmpipe does the same, but 22.3 gave wrong values with more than
//! one thread, as if words of 64 bits were written in two parts; OpenCL does not promise otherwise.

use super::scan::{Device, Scan};
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{Bound, Role};
use crate::monoid::Monoid;
use crate::text::Dialect;
use opencl_backend::OpenClBackend;
use std::sync::Arc;

/// Smaller tiles than a GPU's: local memory stands in for the exchange within warps.
const ROWS: usize = 1;
/// More than twice the tiles that count as a block, and the last is not whole.
const LONG: usize = 2 * 256 * 2048 + 4099;

fn run<T: Element>(arrays: &Arrays, x: &[T], monoid: &Monoid<T>, scan: Scan) -> Vec<T> {
    let a = arrays.from_slice(x).unwrap();
    let expr = a.expr();
    let bound = Bound::new(&expr.tree, Role::Plain, "test").unwrap();
    let out = arrays.empty::<T>(&[x.len()]).unwrap();
    let device = Device::new(arrays, &bound, Dialect::OpenClC, scan, "test");
    {
        let mut memory = out.memory_mut("test").unwrap().unwrap();
        let target = out.target(memory.as_mut()).unwrap();
        device.one_pass(monoid, target, x.len(), ROWS).unwrap();
    }
    out.to_vec().unwrap()
}

fn check<T: Element>(arrays: &Arrays, len: usize, value: impl Fn(usize) -> T, monoid: &Monoid<T>, f: fn(T, T) -> T) {
    let x: Vec<T> = (0..len).map(value).collect();
    for scan in [Scan::Inclusive, Scan::Exclusive] {
        let found = run(arrays, &x, monoid, scan);
        let mut running = monoid.identity();
        let wrong = x.iter().zip(&found).position(|(v, found)| {
            let before = running;
            running = f(running, *v);
            *found != if scan == Scan::Inclusive { running } else { before }
        });
        assert_eq!(wrong, None, "{} of {len}, {scan:?}", T::KIND);
    }
}

#[test]
fn scans_in_one_pass_are_those_of_the_reference() {
    let mut ran = false;
    for device in opencl_backend::devices().unwrap_or_default() {
        let arrays = Arrays::new(Arc::new(OpenClBackend::open(&device).unwrap())).unwrap();
        let device = arrays.backend().device();
        if !device.driver.contains("PoCL") && !arrays.groups_may_wait() {
            continue;
        }
        ran = true;
        println!("device: {device}");
        // The last that is not zero: associative, but not commutative.
        let last = Monoid::new(0u32, |a, b| b.clone().differs(0u32).select(b, a)).unwrap();
        for len in [1, 2047, 2048, 66_561, LONG] {
            check(&arrays, len, |i| (i % 7) as u32 / 6 * i as u32, &last, |a, b| if b != 0 { b } else { a });
            check(&arrays, len, |i| (i * i) as u64, &Monoid::sum(), u64::wrapping_add);
        }
        // Sums that are exact in any order; not to be exact tells of another order.
        check(&arrays, LONG, |i| (i % 5) as f32 - 2.0, &Monoid::sum(), |a, b| a + b);
        let x: Vec<f32> = (0..LONG).map(|i| (i as f32).sin()).collect();
        let bits = || run(&arrays, &x, &Monoid::sum(), Scan::Inclusive).into_iter().map(f32::to_bits);
        let first: Vec<u32> = bits().collect();
        assert!((0..3).all(|_| bits().eq(first.iter().copied())), "another sum in another run");
    }
    if !ran {
        let required = std::env::var("PIXELFERRY_REQUIRE").unwrap_or_default();
        assert!(!required.split(',').any(|thing| thing.trim() == "pocl"), "PoCL is required here");
        println!("SKIPPED: neither PoCL nor a GPU whose groups may wait");
    }
}
