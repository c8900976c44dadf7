//! Texts on devices that would take others: all ways to reduce and scan are right on PoCL. So those for GPUs are tested
//! without one.
//!
//! The scan in one pass runs on PoCL, too. PoCL begins groups in the order of their numbers and runs each to its end.
//! So a group never waits for one that waits for its thread. Mesa's llvmpipe does the same, but 22.3 gave wrong values
//! with more than one thread. It seems to write words of 64 bits in two parts, which OpenCL allows.

use super::Form;
use super::reduce::{Acc, on_device};
use super::scan::Device;
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{Bound, Role};
use crate::monoid::{Monoid, Scan};
use opencl_backend::OpenClBackend;
use pixelferry_testing::{Need, need};
use std::sync::Arc;
use wgpu_backend::{WgpuBackend, WgpuOptions};

const OP: &str = "test";

/// A way to scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Smaller tiles than a GPU's: local memory stands in for the exchange within warps.
    OnePass,
    ThreePasses(Form),
}

const WAYS: [Way; 3] = [Way::OnePass, Way::ThreePasses(Form::Groups), Way::ThreePasses(Form::Runs)];

/// More than twice the tiles that count as a block in one pass, and the last is not whole.
const LONG: usize = 2 * 256 * 2048 + 4099;

/// Lengths of arrays, the longest last. In one pass PoCL gets whole tiles only. In a part of a tile, PoCL 3.1 checks
/// once for the whole group whether a work item's second value is there. So it reads behind the array.
fn lengths(arrays: &Arrays, way: Way) -> &'static [usize] {
    match way {
        Way::OnePass if !arrays.groups_may_wait() => &[2048, 4096, 33 * 2048, 2 * 256 * 2048 + 3 * 2048],
        _ => &[1, 7, 128, 2047, 2048, 66_561, LONG],
    }
}

fn scanned<T: Element>(arrays: &Arrays, way: Way, x: &[T], monoid: &Monoid<T>, scan: Scan) -> Vec<T> {
    let (a, out) = (arrays.from_slice(x).unwrap(), arrays.empty::<T>(&[x.len()]).unwrap());
    let expr = a.expr();
    let bound = Bound::new(&expr.tree, Role::Plain, OP).unwrap();
    let device = Device::new(arrays, &bound, arrays.dialect().unwrap(), scan, OP);
    {
        let mut memory = out.memory_mut(OP).unwrap().unwrap();
        let target = out.target(memory.as_mut()).unwrap();
        match way {
            Way::OnePass => device.one_pass(monoid, target, x.len(), 1).unwrap(),
            Way::ThreePasses(form) => device.three_passes(form, monoid, target, x.len()).unwrap(),
        }
    }
    out.to_vec().unwrap()
}

fn reduced<T: Element>(arrays: &Arrays, form: Form, x: &[T], monoid: &Monoid<T>) -> T {
    let (a, out) = (arrays.from_slice(x).unwrap(), arrays.empty::<T>(&[1]).unwrap());
    let expr = a.expr();
    let bound = Bound::new(&expr.tree, Role::Plain, OP).unwrap();
    let acc = Acc::monoid(monoid, form);
    {
        let mut memory = out.memory_mut(OP).unwrap().unwrap();
        on_device(arrays, &bound, x.len(), &acc, arrays.dialect().unwrap(), memory.as_mut(), OP).unwrap();
    }
    out.to_vec().unwrap()[0]
}

fn check<T: Element>(
    arrays: &Arrays,
    way: Way,
    len: usize,
    value: impl Fn(usize) -> T,
    monoid: &Monoid<T>,
    f: fn(T, T) -> T,
) {
    let x: Vec<T> = (0..len).map(value).collect();
    for scan in [Scan::Inclusive, Scan::Exclusive] {
        let found = scanned(arrays, way, &x, monoid, scan);
        let mut running = monoid.identity();
        let wrong = x.iter().zip(&found).position(|(v, found)| {
            let before = running;
            running = f(running, *v);
            *found != if scan == Scan::Inclusive { running } else { before }
        });
        assert_eq!(wrong, None, "{} of {len}, {way:?}, {scan:?}", T::KIND);
    }
}

/// Those of PoCL's devices, and of GPUs whose groups may wait.
fn on_devices(test: impl Fn(&Arrays)) {
    let mut ran = false;
    for device in opencl_backend::devices().unwrap_or_default() {
        let arrays = Arrays::new(Arc::new(OpenClBackend::open(&device).unwrap())).unwrap();
        let device = arrays.backend().device();
        if !device.driver.contains("PoCL") && !arrays.groups_may_wait() {
            continue;
        }
        ran = true;
        println!("device: {device}");
        test(&arrays);
    }
    need(Need::Pocl, ran.then_some(()).ok_or("neither it nor a GPU whose groups may wait was found"));
}

#[test]
fn all_ways_to_scan_are_those_of_the_reference() {
    on_devices(|arrays| {
        for way in WAYS {
            // The last that is not zero: associative, but not commutative.
            let last = Monoid::new(0u32, |a, b| b.clone().differs(0u32).select(b, a)).unwrap();
            let lengths = lengths(arrays, way);
            for &len in lengths {
                check(arrays, way, len, |i| (i % 7) as u32 / 6 * i as u32, &last, |a, b| if b != 0 { b } else { a });
                check(arrays, way, len, |i| (i * i) as u64, &Monoid::sum(), u64::wrapping_add);
            }
            // Exact in any order; and then sums that tell of another order.
            let long = lengths[lengths.len() - 1];
            check(arrays, way, long, |i| (i % 5) as f32 - 2.0, &Monoid::sum(), |a, b| a + b);
            let x: Vec<f32> = (0..long).map(|i| (i as f32).sin()).collect();
            let bits = || scanned(arrays, way, &x, &Monoid::sum(), Scan::Inclusive).into_iter().map(f32::to_bits);
            let first: Vec<u32> = bits().collect();
            assert!((0..3).all(|_| bits().eq(first.iter().copied())), "{way:?}: another sum in another run");
        }
    });
}

#[test]
fn all_ways_to_reduce_are_those_of_the_reference() {
    on_devices(|arrays| {
        for form in [Form::Groups, Form::Runs] {
            for len in [1, 511, 512, 8193, 66_561, LONG] {
                let x: Vec<u64> = (0..len as u64).map(|i| i * i).collect();
                let expected = x.iter().fold(0u64, |a, b| a.wrapping_add(*b));
                assert_eq!(reduced(arrays, form, &x, &Monoid::sum()), expected, "{len}, {form:?}");
                let x: Vec<f32> = (0..len).map(|i| ((i * 7919) % len) as f32).collect();
                assert_eq!(reduced(arrays, form, &x, &Monoid::max()), x.iter().copied().fold(0.0, f32::max));
            }
        }
    });
}

/// In WGSL, on lavapipe: GPUs' way is right there, too.
#[test]
#[cfg_attr(miri, ignore = "it opens Vulkan, a library of C")]
fn both_ways_to_scan_in_wgsl_are_those_of_the_reference() {
    let options = WgpuOptions::default().with_backends(wgpu::Backends::VULKAN);
    let Some(backend) = need(Need::Lavapipe, WgpuBackend::open(&options)) else { return };
    let arrays = Arrays::new(Arc::new(backend)).unwrap();
    let last = Monoid::new(0u32, |a, b| b.clone().differs(0u32).select(b, a)).unwrap();
    let bits = [Form::Groups, Form::Runs].map(|form| {
        let way = Way::ThreePasses(form);
        for &len in lengths(&arrays, way) {
            check(&arrays, way, len, |i| (i % 7) as u32 / 6 * i as u32, &last, |a, b| if b != 0 { b } else { a });
            check(&arrays, way, len, |i| i as i32 - 9, &Monoid::sum(), i32::wrapping_add);
        }
        let x: Vec<f32> = (0..LONG).map(|i| (i as f32).sin()).collect();
        scanned(&arrays, way, &x, &Monoid::sum(), Scan::Inclusive).into_iter().map(f32::to_bits).collect::<Vec<_>>()
    });
    assert_eq!(bits[0], bits[1]);
}
