//! Tests that features which WGSL and its devices lack are refused with a reason, before anything is compiled.

use crate::suite::{is_of_wgsl, on_every_language};
use compute_arrays::{Array, Arrays, Element, Expr};
use interop_core::{Error, Result};
use std::fmt::Debug;

fn on_wgsl(test: impl Fn(&Arrays)) {
    on_every_language(|arrays| {
        if is_of_wgsl(arrays) {
            test(arrays);
        }
    });
}

fn unsupported<T: Debug>(result: Result<T>, words: &str) {
    match result {
        Err(error @ Error::Unsupported { .. }) if error.to_string().contains(words) => {}
        other => panic!("expected that '{words}' is not supported, got {other:?}"),
    }
}

#[test]
fn types_of_64_bits_are_refused_wherever_they_come_in() {
    fn wide<T: Element>(arrays: &Arrays, instead: &str) {
        let words = format!("WGSL has no {}; use {instead}", T::KIND);
        unsupported(arrays.from_slice(&[T::default(); 4]), &words);
        unsupported(arrays.from_memory::<T>(arrays.backend().allocate(64).unwrap(), &[4]), &words);
        let narrow = arrays.from_slice(&[1u32; 4]).unwrap();
        unsupported(narrow.expr().cast::<T>().sum(), &words);
        unsupported(arrays.eval(narrow.expr().cast::<T>().cast::<u32>()), &words);
    }
    on_wgsl(|arrays| {
        wide::<f64>(arrays, "f32");
        wide::<i64>(arrays, "i32");
        wide::<u64>(arrays, "u32");
        unsupported(arrays.tabulate(&[4], (Expr::index() + 1).cast::<u32>()), "Expr::index().cast::<u32>()");
        let signed: Array<i32> = arrays.tabulate(&[3], Expr::index().cast::<i32>() - 1).unwrap();
        assert_eq!(signed.to_vec().unwrap(), [-1, 0, 1]);
    });
}

#[test]
fn more_elements_than_are_counted_are_refused() {
    on_wgsl(|arrays| {
        let one = arrays.from_slice(&[1u32]).unwrap();
        let many = one.view().broadcast_to(&[1 << 30]).unwrap();
        unsupported(many.clone().expr().sum(), "compute them in parts");
        unsupported(many.expr().argmax(), "compute them in parts");
        assert_eq!(one.view().broadcast_to(&[1 << 16, 3]).unwrap().expr().sum().unwrap(), 3 << 16);
    });
}

/// Arrays beyond what a kernel binds; numbers beyond what a launch passes.
#[test]
fn arguments_are_refused_or_find_another_place() {
    on_wgsl(|arrays| {
        let each: Vec<_> = (0..300u32).map(|i| arrays.from_slice(&[i, i + 1]).unwrap()).collect();
        let mut sum = each[0].expr();
        for other in &each[1..] {
            sum = sum + other;
        }
        // NVIDIA's Vulkan binds 300 of them.
        match arrays.eval(sum) {
            Ok(found) => assert_eq!(found.to_vec().unwrap(), [44_850, 45_150]),
            refused => unsupported(refused, "memories"),
        }
        // Strides and 90 constants.
        let cube = arrays.tabulate(&[2, 3, 4], Expr::index().cast::<u32>()).unwrap();
        let turned = cube.view().permute(&[2, 1, 0]).unwrap().expr();
        let mut all = turned.clone();
        for factor in 1..=30u32 {
            all = all * factor + turned.clone() / factor - factor;
        }
        let found = arrays.eval(all).unwrap().to_vec().unwrap();
        let at = |i: u32| (i % 2) * 12 + (i % 6 / 2) * 4 + i / 6;
        let step = |i: u32| {
            move |all: u32, factor: u32| all.wrapping_mul(factor).wrapping_add(at(i) / factor).wrapping_sub(factor)
        };
        let expected = (0..24).map(|i| (1..=30).fold(at(i), step(i)));
        assert_eq!(found, expected.collect::<Vec<_>>());
    });
}
