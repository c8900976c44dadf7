//! Values of a type for the tests.

use compute_arrays::{Element, philox4x32};

pub trait Sample: Element + std::fmt::Display {
    /// A value of moderate size from random bits.
    fn sample(bits: u32) -> Self;
    /// A small number.
    fn of(number: u8) -> Self;
    /// The sum; integers wrap.
    fn plus(self, other: Self) -> Self;
    /// The product; integers wrap.
    fn times(self, other: Self) -> Self;
    /// Values at the edges of the type.
    fn edges() -> Vec<Self>;
    /// Units in the last place between two values; 0 for two NaN.
    fn distance(self, other: Self) -> u64;
    /// This is a subnormal number, and `found` is zero.
    fn is_flushed_to(self, found: Self) -> bool;
}

macro_rules! sample_int {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            fn sample(bits: u32) -> Self { (bits as i32 >> 12) as $t }
            fn of(number: u8) -> Self { number as $t }
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn edges() -> Vec<Self> { vec![0, 1, 2, $t::MAX, $t::MAX - 1, $t::MIN, $t::MIN + 1, $t::MAX / 2] }
            fn distance(self, other: Self) -> u64 { self.abs_diff(other).into() }
            fn is_flushed_to(self, _: Self) -> bool { false }
        }
    )*};
}
sample_int!(i32 u32 i64 u64);

macro_rules! sample_float {
    ($($t:ident $i:ident)*) => {$(
        impl Sample for $t {
            fn sample(bits: u32) -> Self { (f64::from(bits as i32) / f64::from(1 << 24)) as $t }
            fn of(number: u8) -> Self { number.into() }
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
            fn edges() -> Vec<Self> {
                vec![0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e10, -1e10, $t::MAX, $t::MIN, $t::INFINITY,
                     $t::NEG_INFINITY, $t::NAN, 3e9, -3e9, 1e19, 2e19]
            }
            fn distance(self, other: Self) -> u64 {
                if self == other || (self.is_nan() && other.is_nan()) { return 0; }
                if self.is_nan() || other.is_nan() { return u64::MAX; }
                // Ordered as integers are, with both zeros at one place.
                let key = |v: $t| { let b = v.to_bits() as $i; i128::from(if b < 0 { $i::MIN - b } else { b }) };
                u64::try_from((key(self) - key(other)).abs()).unwrap_or(u64::MAX)
            }
            fn is_flushed_to(self, found: Self) -> bool { self.is_subnormal() && found == 0.0 }
        }
    )*};
}
sample_float!(f32 i32 f64 i64);

/// Random values, the same in every run.
pub fn samples<T: Sample>(count: usize, seed: u32) -> Vec<T> {
    (1..=count).map(|at| T::sample(philox4x32([at as u32, 0, 0, 0], [seed, 7])[0])).collect()
}

/// The most units in the last place between what was found and what was expected.
pub fn worst<T: Sample>(found: &[T], expected: &[T]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(f, e)| f.distance(*e)).max().unwrap_or(0) as f64
}
