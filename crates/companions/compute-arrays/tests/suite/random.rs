//! One stream on every backend.

use crate::suite::{has, on_every_language};
use compute_arrays::{Array, Arrays, Element, Philox, philox4x32};
use interop_core::Result;
use std::f64::consts::TAU;

const SEED: u64 = 0x0123_4567_89ab_cdef;
const STREAM: u64 = 0xfeed_0000_0042;
const LENGTH: usize = 70_003;

/// Block `number` of the stream, by the cipher's definition.
fn block(number: u64) -> [u32; 4] {
    let counter = [number as u32, (number >> 32) as u32, STREAM as u32, (STREAM >> 32) as u32];
    philox4x32(counter, [SEED as u32, (SEED >> 32) as u32])
}

fn word(at: usize) -> u32 {
    block((at / 4) as u64)[at % 4]
}

fn wide(at: usize) -> u64 {
    u64::from(word(2 * at)) | u64::from(word(2 * at + 1)) << 32
}

/// A whole number as a part of a power of 2.
fn part(number: impl Into<u64>, bits: u32) -> f64 {
    number.into() as f64 / (1u64 << bits) as f64
}

/// Box and Muller's transform of two numbers from 0 to 1, the first of which is not 0, in binary64.
fn normal(at: usize, a: f64, b: f64) -> f64 {
    (-2.0 * a.ln()).sqrt() * if at.is_multiple_of(2) { (TAU * b).cos() } else { (TAU * b).sin() }
}

fn draw<T: Element>(arrays: &Arrays, f: impl FnOnce(&mut Philox, &mut Array<T>) -> Result<()>) -> Vec<T> {
    let mut array = arrays.empty(&[LENGTH]).unwrap();
    f(&mut Philox::new(SEED).with_stream(STREAM), &mut array).unwrap();
    array.to_vec().unwrap()
}

fn each<T: PartialEq + std::fmt::Debug>(found: &[T], expected: impl Fn(usize) -> T) {
    let wrong = found.iter().enumerate().find(|(at, found)| **found != expected(*at));
    assert_eq!(wrong, None, "expected {:?}", wrong.map(|(at, _)| expected(at)));
}

/// The largest difference.
fn off<T: Copy + Into<f64>>(found: &[T], expected: impl Fn(usize) -> f64) -> f64 {
    found.iter().enumerate().map(|(at, v)| ((*v).into() - expected(at)).abs()).fold(0.0, f64::max)
}

#[test]
fn integers_and_uniform_numbers_are_the_same_bits_everywhere_and_normal_ones_are_close() {
    on_every_language(|arrays| {
        each(&draw::<u32>(arrays, Philox::integers), word);
        each(&draw::<i32>(arrays, Philox::integers), |at| word(at).cast_signed());
        each(&draw::<f32>(arrays, Philox::uniform), |at| part(word(at) >> 8, 24) as f32);
        let found = draw::<f32>(arrays, Philox::normal);
        let far = off(&found, |at| normal(at, part((word(at & !1) >> 8) + 1, 24), part(word(at | 1) >> 8, 24)));
        let mean = found.iter().map(|v| f64::from(*v)).sum::<f64>() / LENGTH as f64;
        let variance = found.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / LENGTH as f64;
        println!("  f32: off by {far:.2e}, mean {mean:.4}, variance {variance:.4}");
        assert!(far < 1e-5 && mean.abs() < 0.015 && (variance - 1.0).abs() < 0.03);
        if has::<u64>(arrays) && has::<i64>(arrays) {
            each(&draw::<u64>(arrays, Philox::integers), wide);
            each(&draw::<i64>(arrays, Philox::integers), |at| wide(at).cast_signed());
        }
        if has::<f64>(arrays) {
            each(&draw::<f64>(arrays, Philox::uniform), |at| part(wide(at) >> 11, 53));
            let found = draw::<f64>(arrays, Philox::normal);
            let far = off(&found, |at| normal(at, part((wide(at & !1) >> 11) + 1, 53), part(wide(at | 1) >> 11, 53)));
            println!("  f64: off by {far:.2e}");
            assert!(far < 1e-12);
        }
        // The position moves by whole blocks, and from the last to the first.
        let mut random = Philox::new(SEED).with_stream(STREAM);
        for (len, first, after) in [(5, 0, 2), (0, 2, 2), (1, 2, 3), (8, 3, 5)] {
            let mut array = arrays.empty::<u32>(&[len]).unwrap();
            random.integers(&mut array).unwrap();
            each(&array.to_vec().unwrap(), |at| word(first * 4 + at));
            assert_eq!(random.block(), after);
        }
        let mut far = random.at_block(u64::MAX);
        let mut array = arrays.empty::<u32>(&[8]).unwrap();
        far.integers(&mut array).unwrap();
        assert_eq!((far.block(), array.to_vec().unwrap()), (1, [block(u64::MAX), block(0)].concat()));
    });
}
