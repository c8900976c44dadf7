//! Texts on devices that would take others: all ways to reduce and scan are right on PoCL, and those of WGSL on lavapipe. So
//! those for GPUs are tested without one.
//!
//! The scan in one pass runs on PoCL, too. PoCL begins groups in the order of their numbers and runs each to its end.
//! So a group never waits for one that waits for its thread. Mesa's llvmpipe does the same, but 22.3 gave wrong values
//! with more than one thread. It seems to write words of 64 bits in two parts, which OpenCL allows.

use super::Form;
use super::reduce::{Acc, on_device};
use super::scan::Device;
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{BoundProgram, Role};
use crate::monoid::{Monoid, Scan};
use opencl_backend::OpenClBackend;
use pixelferry_testing::{Need, by_level, need};
use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
use std::sync::Arc;

const OP: &str = "test";

/// A method to scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanMethod {
    /// Smaller tiles than a GPU's: local memory stands in for the exchange within warps.
    OnePass,
    ThreePasses(Form),
}

const WAYS: [ScanMethod; 3] =
    [ScanMethod::ThreePasses(Form::Groups), ScanMethod::ThreePasses(Form::Runs), ScanMethod::OnePass];

/// More than twice the tiles that count as a block in one pass, and the last is not whole.
const LONG: usize = 2 * 256 * 2048 + 4099;

/// Lengths of arrays, the longest last. In one pass PoCL gets whole tiles only. In a part of a tile, PoCL 3.1 checks
/// once for the whole group whether a work item's second value is there. So it reads behind the array.
fn lengths(arrays: &Arrays, method: ScanMethod) -> &'static [usize] {
    match method {
        ScanMethod::OnePass if !arrays.groups_may_wait() => &[2048, 4096, 33 * 2048, 2 * 256 * 2048 + 3 * 2048],
        _ => &[1, 7, 128, 2047, 2048, 66_561, LONG],
    }
}

fn scanned<T: Element>(arrays: &Arrays, method: ScanMethod, x: &[T], monoid: &Monoid<T>, scan: Scan) -> Vec<T> {
    let (a, out) = (arrays.from_slice(x).unwrap(), arrays.empty::<T>(&[x.len()]).unwrap());
    let expr = a.expr();
    let bound = BoundProgram::new(&expr.tree, Role::Plain, OP).unwrap();
    let device = Device::new(arrays, &bound, arrays.dialect().unwrap(), scan, OP);
    {
        let mut memory = out.memory_mut(OP).unwrap().unwrap();
        let target = out.target(memory.as_mut()).unwrap();
        match method {
            ScanMethod::OnePass => device.one_pass(monoid, target, x.len(), 1).unwrap(),
            ScanMethod::ThreePasses(form) => device.three_passes(form, monoid, target, x.len()).unwrap(),
        }
    }
    out.to_vec().unwrap()
}

fn reduced<T: Element>(arrays: &Arrays, form: Form, x: &[T], monoid: &Monoid<T>) -> T {
    let (a, out) = (arrays.from_slice(x).unwrap(), arrays.empty::<T>(&[1]).unwrap());
    let expr = a.expr();
    let bound = BoundProgram::new(&expr.tree, Role::Plain, OP).unwrap();
    let acc = Acc::monoid(monoid, form);
    {
        let mut memory = out.memory_mut(OP).unwrap().unwrap();
        on_device(arrays, &bound, x.len(), &acc, arrays.dialect().unwrap(), memory.as_mut(), OP).unwrap();
    }
    out.to_vec().unwrap()[0]
}

fn check<T: Element>(arrays: &Arrays, method: ScanMethod, x: &[T], monoid: &Monoid<T>, f: impl Fn(T, T) -> T) {
    for scan in [Scan::Inclusive, Scan::Exclusive] {
        let found = scanned(arrays, method, x, monoid, scan);
        let mut running = monoid.identity();
        let wrong = x.iter().zip(&found).position(|(v, found)| {
            let before = running;
            running = f(running, *v);
            *found != if scan == Scan::Inclusive { running } else { before }
        });
        assert_eq!(wrong, None, "{} of {}, {method:?}, {scan:?}", T::KIND, x.len());
    }
}

/// PoCL's devices, and GPUs whose groups may wait.
fn of_c() -> Vec<Arrays> {
    let devices = opencl_backend::devices().unwrap_or_default();
    let all = devices.iter().map(|device| Arrays::new(Arc::new(OpenClBackend::open(device).unwrap())).unwrap());
    let all: Vec<_> = all.filter(|a| a.backend().device().driver.contains("PoCL") || a.groups_may_wait()).collect();
    need(Need::Pocl, all.first().ok_or("neither it nor a GPU whose groups may wait was found"));
    all
}

/// All lengths in all ways: what is not commutative, what fills all bits, and sums that tell of another order.
fn check_scans<T: Element>(
    arrays: &Arrays,
    ways: &[ScanMethod],
    value: fn(usize) -> T,
    add: fn(T, T) -> T,
) -> Vec<Vec<u32>> {
    println!("device: {}", arrays.backend().device());
    // The last that is not zero.
    let last = Monoid::new(0u32, |a, b| b.clone().differs(0u32).select(b, a)).unwrap();
    let sums = ways.iter().map(|method| {
        // At the shortest level the longest is scanned once, below.
        let all = lengths(arrays, *method);
        for &len in &all[..all.len() - by_level(1, 0, 0)] {
            let x: Vec<u32> = (0..len).map(|i| (i % 7) as u32 / 6 * i as u32).collect();
            check(arrays, *method, &x, &last, |a, b| if b != 0 { b } else { a });
            check(arrays, *method, &(0..len).map(value).collect::<Vec<_>>(), &Monoid::sum(), add);
        }
        let long = lengths(arrays, *method).last().copied().unwrap();
        // Exact in any order.
        let x: Vec<f32> = (0..long).map(|i| (i % 5) as f32 - 2.0).collect();
        check(arrays, *method, &x, &Monoid::sum(), |a, b| a + b);
        let x: Vec<f32> = (0..long).map(|i| (i as f32).sin()).collect();
        let bits = || -> Vec<u32> {
            let sums = scanned(arrays, *method, &x, &Monoid::sum(), Scan::Inclusive);
            sums.into_iter().map(f32::to_bits).collect()
        };
        let first = bits();
        assert!((0..by_level(1, 3, 3)).all(|_| bits() == first), "{method:?}: another sum in another run");
        first
    });
    sums.collect()
}

#[test]
#[cfg_attr(miri, ignore = "it opens libraries of C")]
fn all_ways_to_scan_are_those_of_the_reference() {
    for arrays in of_c() {
        check_scans(&arrays, &WAYS, |i| (i * i) as u64, u64::wrapping_add);
    }
    let options = WgpuOptions::default().with_backends(wgpu::Backends::VULKAN);
    if let Some(backend) = need(Need::Lavapipe, WgpuBackend::open(&options)) {
        let arrays = Arrays::new(Arc::new(backend)).unwrap();
        let sums = check_scans(&arrays, &WAYS[..2], |i| i as i32 - 9, i32::wrapping_add);
        assert_eq!(sums[0], sums[1]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "it opens a library of C")]
fn all_ways_to_reduce_are_those_of_the_reference() {
    for (arrays, form) in of_c().iter().flat_map(|arrays| [(arrays, Form::Groups), (arrays, Form::Runs)]) {
        for &len in &[1, 511, 512, 8193, 66_561, LONG][..by_level(5, 6, 6)] {
            let x: Vec<u64> = (0..len as u64).map(|i| i * i).collect();
            let expected = x.iter().fold(0u64, |a, b| a.wrapping_add(*b));
            assert_eq!(reduced(arrays, form, &x, &Monoid::sum()), expected, "{len}, {form:?}");
            let x: Vec<f32> = (0..len).map(|i| ((i * 7919) % len) as f32).collect();
            assert_eq!(reduced(arrays, form, &x, &Monoid::max()), x.iter().copied().fold(0.0, f32::max));
        }
    }
}
