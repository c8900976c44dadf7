//! Operations of one element, defined for every input, as in the texts for devices.

use super::vectors::{self, RunningValues};

/// Operations of every element type.
pub trait Arith: Copy + Send + Sync {
    /// The identity of `most`: the smallest value, or the one that every other replaces.
    const LEAST: Self;
    /// The identity of `least`.
    const MOST: Self;
    /// Zero.
    const ZERO: Self;
    /// The identity of products.
    const ONE: Self;
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`; 0 for an integer by 0.
    fn div(self, other: Self) -> Self;
    /// `self % other`; 0 for an integer by 0.
    fn rem(self, other: Self) -> Self;
    /// Returns the smaller value.
    fn least(self, other: Self) -> Self;
    /// Returns the larger value.
    fn most(self, other: Self) -> Self;
    /// `-self`.
    fn neg(self) -> Self;
    /// Returns the absolute value.
    fn abs(self) -> Self;
    /// Returns a function for running sums of a slice, if this processor has a faster method than repeated `add`.
    fn running_sums() -> Option<RunningValues<Self>>;
}

/// Further operations of floats.
#[allow(missing_docs)] // named as in the standard library
pub trait FloatArith: Arith {
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn tanh(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn powf(self, other: Self) -> Self;
    fn atan2(self, other: Self) -> Self;
    fn mul_add(self, factor: Self, addend: Self) -> Self;
}

/// Further operations of integers.
#[allow(missing_docs)] // named as in the standard library
pub trait IntArith: Arith {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn shl(self, count: Self) -> Self;
    fn shr(self, count: Self) -> Self;
}

macro_rules! float {
    ($($t:ident $sums:expr;)*) => {$(
        impl Arith for $t {
            // Every number replaces a NaN, so the result is NaN only if all values are.
            const LEAST: Self = $t::NAN;
            const MOST: Self = $t::NAN;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            fn add(self, other: Self) -> Self { self + other }
            fn sub(self, other: Self) -> Self { self - other }
            fn mul(self, other: Self) -> Self { self * other }
            fn div(self, other: Self) -> Self { self / other }
            fn rem(self, other: Self) -> Self { self % other }
            fn least(self, other: Self) -> Self { $t::min(self, other) }
            fn most(self, other: Self) -> Self { $t::max(self, other) }
            fn neg(self) -> Self { -self }
            fn abs(self) -> Self { $t::abs(self) }
            fn running_sums() -> Option<RunningValues<Self>> { $sums }
        }
        impl FloatArith for $t {
            fn sqrt(self) -> Self { $t::sqrt(self) }
            fn exp(self) -> Self { $t::exp(self) }
            fn ln(self) -> Self { $t::ln(self) }
            fn sin(self) -> Self { $t::sin(self) }
            fn cos(self) -> Self { $t::cos(self) }
            fn tan(self) -> Self { $t::tan(self) }
            fn tanh(self) -> Self { $t::tanh(self) }
            fn floor(self) -> Self { $t::floor(self) }
            fn ceil(self) -> Self { $t::ceil(self) }
            fn trunc(self) -> Self { $t::trunc(self) }
            fn round_ties_even(self) -> Self { $t::round_ties_even(self) }
            fn powf(self, other: Self) -> Self { $t::powf(self, other) }
            fn atan2(self, other: Self) -> Self { $t::atan2(self, other) }
            fn mul_add(self, factor: Self, addend: Self) -> Self { $t::mul_add(self, factor, addend) }
        }
    )*};
}

macro_rules! integer {
    ($($t:ident |$v:ident| $abs:expr, $sums:expr;)*) => {$(
        impl Arith for $t {
            const LEAST: Self = $t::MIN;
            const MOST: Self = $t::MAX;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn sub(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn div(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_div(other) } }
            fn rem(self, other: Self) -> Self { if other == 0 { 0 } else { self.wrapping_rem(other) } }
            fn least(self, other: Self) -> Self { Ord::min(self, other) }
            fn most(self, other: Self) -> Self { Ord::max(self, other) }
            fn neg(self) -> Self { self.wrapping_neg() }
            fn abs(self) -> Self { let $v = self; $abs }
            fn running_sums() -> Option<RunningValues<Self>> { $sums }
        }
        impl IntArith for $t {
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
            fn shl(self, count: Self) -> Self { self.wrapping_shl(count as u32) }
            fn shr(self, count: Self) -> Self { self.wrapping_shr(count as u32) }
        }
    )*};
}

float! {
    f32 vectors::sums_f32();
    f64 None;
}
integer! {
    i32 |v| v.wrapping_abs(), vectors::sums_i32();
    u32 |v| v, vectors::sums_u32();
    i64 |v| v.wrapping_abs(), None;
    u64 |v| v, None;
}
