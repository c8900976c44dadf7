//! Tests that callers' errors are refused, with a reason.

use crate::suite::{backends, on_every_language};
use compute_arrays::{Arrays, Expr, Monoid, Scan};
use cpu_fallback::CpuBackend;
use interop_core::{BufferView, ComputeBackend, Error, Extent, PixelFormat, Result, Target, View};
use std::fmt::Debug;
use std::sync::Arc;

fn refused<T: Debug>(result: Result<T>, words: &str) {
    match result {
        Err(error @ Error::InvalidInput { .. }) if error.to_string().contains(words) => {}
        other => panic!("expected a refusal with '{words}', got {other:?}"),
    }
}

#[test]
fn shapes_must_agree() {
    on_every_language(|arrays| {
        let (a, b) = (arrays.from_slice(&[1.0f32; 4]).unwrap(), arrays.from_slice(&[1.0f32; 5]).unwrap());
        refused(arrays.eval(&a + &b), "[4] and [5]");
        refused(arrays.eval(Expr::constant(1.0f32)), "Arrays::tabulate");
        refused(arrays.tabulate(&[3], &a), "[4]");
        refused(arrays.tabulate::<u32>(&[usize::MAX, 2], 1), "counted");
        refused(arrays.tabulate::<u32>(&[usize::MAX / 2], 1), "counted");
        let mut c = arrays.empty::<f32>(&[5]).unwrap();
        refused(c.assign(&a), "[4]");
        refused(c.update(|old| old + &a), "[4]");
        refused(a.expr().scan_into(&Monoid::sum(), Scan::Inclusive, &mut c), "[4]");
        refused(c.write(&[0.0; 4]), "4 elements");
        refused(c.read(&mut [0.0; 6]), "6 elements");
        refused(a.view().item(&[4]), "outside");
        refused(arrays.from_slice(&[1]).unwrap().reshape(&[2]), "different numbers");
        // Nothing was changed by all that.
        assert_eq!(a.to_vec().unwrap(), [1.0; 4]);
    });
}

/// Arrays of one owner in calls of another, and memory of another backend, which is found out when it is used.
#[test]
fn arrays_and_memory_of_two_owners_do_not_mix() {
    let foreign = |result: Result<()>| assert!(matches!(result, Err(Error::Foreign { .. })), "{result:?}");
    let all = backends();
    for first in &all {
        let here = Arrays::new(Arc::clone(first)).unwrap();
        let there = Arrays::new(Arc::clone(&all[0])).unwrap();
        let (a, mut b) = (here.from_slice(&[1u32; 4]).unwrap(), there.from_slice(&[1u32; 4]).unwrap());
        foreign(here.eval(&a + &b).map(|_| ()));
        foreign(here.eval(&b).map(|_| ()));
        foreign(b.assign(&a));
        foreign(a.expr().scan_into(&Monoid::sum(), Scan::Inclusive, &mut b));
        foreign(a.expr().reduce_into(&Monoid::sum(), &mut b));
        let other = CpuBackend::new().unwrap();
        let mut b = here.from_memory::<u32>(other.allocate(16).unwrap(), &[4]).unwrap();
        foreign(b.assign(&a));
        foreign(here.eval(&b + &a).map(|_| ()));
        foreign(b.sum().map(|_| ()));
        refused(here.from_memory::<u32>(other.allocate(15).unwrap(), &[4]), "too few");
    }
}

#[test]
fn parts_of_closures_stay_there() {
    on_every_language(|arrays| {
        let mut a = arrays.from_slice(&[1u32; 4]).unwrap();
        let mut stolen = None;
        a.update(|old| {
            stolen = Some(old.clone());
            old
        })
        .unwrap();
        refused(arrays.tabulate(&[4], stolen.unwrap()), "closure");
        let mut side = None;
        Monoid::new(0u32, |a, b| {
            side = Some(a.clone());
            a + b
        })
        .unwrap();
        refused(arrays.tabulate(&[4], side.unwrap()), "closure");
        refused(Monoid::new(0u64, |a, b| a + b + Expr::index()), "closure");
    });
}

#[test]
fn too_deep_is_an_error_and_not_the_end() {
    on_every_language(|arrays| {
        let a = arrays.from_slice(&[1u32; 4]).unwrap();
        refused(arrays.eval((0..200_000).fold(a.expr(), |e, _| e + 1)), "deep");
    });
}

#[test]
fn targets_are_checked_and_only_they_are_written() {
    on_every_language(|arrays| {
        let mut memory = arrays.backend().allocate(64).unwrap();
        memory.write(0, &[0xff; 64]).unwrap();
        let a = arrays.from_slice(&[1u32, 2, 3]).unwrap();
        let part = |offset, len| View::Buffer(BufferView { offset, len });
        arrays.write(Target::new(memory.as_mut(), part(16, 12)).unwrap(), &a * 2).unwrap();
        let mut bytes = [0u8; 64];
        memory.read(0, &mut bytes).unwrap();
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|b| u32::from_ne_bytes(*b)).collect();
        assert_eq!(words[3..8], [u32::MAX, 2, 4, 6, u32::MAX]);
        refused(arrays.write(Target::new(memory.as_mut(), part(2, 12)).unwrap(), &a), "whole number");
        refused(arrays.write(Target::new(memory.as_mut(), part(0, 11)).unwrap(), &a), "whole number");
        refused(arrays.write(Target::new(memory.as_mut(), part(0, 16)).unwrap(), &a), "4 elements");
        let image = Target::image(memory.as_mut(), Extent::new(2, 2), PixelFormat::Rgba8).unwrap();
        refused(arrays.write(image, &a), "image");
    });
}
