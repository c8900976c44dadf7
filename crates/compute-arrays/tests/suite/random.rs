//! One stream on every backend.

use crate::{has, on_every_backend};
use compute_arrays::{Array, Arrays, Philox, philox4x32};
use interop_core::Result;

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
    let words = block((at / 2) as u64);
    u64::from(words[at % 2 * 2]) | u64::from(words[at % 2 * 2 + 1]) << 32
}

fn draw<T: compute_arrays::Element>(
    arrays: &Arrays,
    f: impl FnOnce(&mut Philox, &mut Array<T>) -> Result<()>,
) -> Vec<T> {
    let mut array = arrays.empty(&[LENGTH]).unwrap();
    f(&mut Philox::new(SEED).with_stream(STREAM), &mut array).unwrap();
    array.to_vec().unwrap()
}

fn each<T: PartialEq + std::fmt::Debug>(found: &[T], expected: impl Fn(usize) -> T) {
    let wrong = found.iter().enumerate().find(|(at, found)| **found != expected(*at));
    assert_eq!(wrong, None, "expected {:?}", wrong.map(|(at, _)| expected(at)));
}

#[test]
fn integers_and_uniform_numbers_are_the_same_bits_everywhere() {
    on_every_backend(|arrays| {
        each(&draw::<u32>(arrays, Philox::integers), word);
        each(&draw::<i32>(arrays, Philox::integers), |at| word(at).cast_signed());
        if has::<u64>(arrays) && has::<i64>(arrays) {
            each(&draw::<u64>(arrays, Philox::integers), wide);
            each(&draw::<i64>(arrays, Philox::integers), |at| wide(at).cast_signed());
        }
        let uniform = draw::<f32>(arrays, Philox::uniform);
        assert!(uniform.iter().all(|v| (0.0..1.0).contains(v)));
        each(&uniform, |at| (word(at) >> 8) as f32 / (1 << 24) as f32);
        if has::<f64>(arrays) {
            each(&draw::<f64>(arrays, Philox::uniform), |at| (wide(at) >> 11) as f64 / (1u64 << 53) as f64);
        }
    });
}

/// Box and Muller's transform of the words, in binary64.
fn normal(at: usize) -> f64 {
    let (a, b) = (word(at & !1), word(at | 1));
    let radius = (-2.0 * ((f64::from(a >> 8) + 1.0) / f64::from(1 << 24)).ln()).sqrt();
    let angle = std::f64::consts::TAU * f64::from(b >> 8) / f64::from(1 << 24);
    radius * if at.is_multiple_of(2) { angle.cos() } else { angle.sin() }
}

fn wide_normal(at: usize) -> f64 {
    let (a, b) = (wide(at & !1) >> 11, wide(at | 1) >> 11);
    let scale = (1u64 << 53) as f64;
    let (radius, angle) = ((-2.0 * ((a + 1) as f64 / scale).ln()).sqrt(), std::f64::consts::TAU * (b as f64 / scale));
    radius * if at.is_multiple_of(2) { angle.cos() } else { angle.sin() }
}

#[test]
fn normal_numbers_are_close_everywhere() {
    on_every_backend(|arrays| {
        let found = draw::<f32>(arrays, Philox::normal);
        let off = found.iter().enumerate().map(|(at, v)| (f64::from(*v) - normal(at)).abs()).fold(0.0, f64::max);
        let mean = found.iter().map(|v| f64::from(*v)).sum::<f64>() / LENGTH as f64;
        let variance = found.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / LENGTH as f64;
        println!("  f32: off by {off:.2e}, mean {mean:.4}, variance {variance:.4}");
        assert!(off < 1e-5 && mean.abs() < 0.015 && (variance - 1.0).abs() < 0.03);
        if has::<f64>(arrays) {
            let found = draw::<f64>(arrays, Philox::normal);
            let off = found.iter().enumerate().map(|(at, v)| (v - wide_normal(at)).abs()).fold(0.0, f64::max);
            println!("  f64: off by {off:.2e}");
            assert!(off < 1e-12);
        }
    });
}

#[test]
fn the_position_moves_by_whole_blocks() {
    on_every_backend(|arrays| {
        let mut random = Philox::new(SEED).with_stream(STREAM);
        for (len, first, after) in [(5, 0, 2), (0, 2, 2), (1, 2, 3), (8, 3, 5)] {
            let mut array = arrays.empty::<u32>(&[len]).unwrap();
            random.integers(&mut array).unwrap();
            each(&array.to_vec().unwrap(), |at| word(first * 4 + at));
            assert_eq!(random.block(), after);
        }
        let mut far = Philox::new(SEED).with_stream(STREAM).at_block(u64::MAX);
        let mut array = arrays.empty::<u32>(&[8]).unwrap();
        far.integers(&mut array).unwrap();
        assert_eq!(far.block(), 1);
        assert_eq!(array.to_vec().unwrap()[..4], block(u64::MAX));
        assert_eq!(array.to_vec().unwrap()[4..], block(0));
    });
}
