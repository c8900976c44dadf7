//! Vectors of eight floats on x86-64 processors with AVX2, and prefetches. The compiler generates neither by default:
//! its baseline has vectors of four. This is the only file of the crate with `unsafe`.

/// The values that a running operation reads, and the later ones that it prefetches.
#[derive(Clone, Copy)]
pub struct Input<'a, T> {
    pub values: &'a [T],
    pub ahead: &'a [T],
}

/// Computes as many inclusive running values as `out` holds, after a value before.
pub type RunningValues<T> = fn(Input<'_, T>, T, &mut [T]);

/// Runs `f`, which must be inlined here, compiled for AVX2 if the processor supports it.
#[inline]
pub fn widest<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { x86::widest(f) };
    }
    f()
}

/// Running sums with AVX2; `None` on other processors.
macro_rules! sums {
    ($($name:ident $t:ty;)*) => {$(
        pub fn $name() -> Option<RunningValues<$t>> {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                return Some(|input, before, out| unsafe { x86::$name(input, before, out) });
            }
            None
        }
    )*};
}

sums! {
    sums_f32 f32;
    sums_u32 u32;
    sums_i32 i32;
}

/// Prefetches these values into the second-level cache; a hint.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks((64 / size_of::<T>().max(1)).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch has no visible effect, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Input, prefetch};
    use bytemuck::{Pod, cast, cast_slice, cast_slice_mut};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub fn widest<R>(f: impl FnOnce() -> R) -> R {
        f()
    }

    #[target_feature(enable = "avx2")]
    pub fn sums_f32(input: Input<'_, f32>, before: f32, out: &mut [f32]) {
        let add = |a, b| _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
        let one = |a, b| (f32::from_bits(a) + f32::from_bits(b)).to_bits();
        sums(words(input), before.to_bits(), cast_slice_mut(out), add, one);
    }

    #[target_feature(enable = "avx2")]
    pub fn sums_u32(input: Input<'_, u32>, before: u32, out: &mut [u32]) {
        sums(input, before, out, |a, b| _mm256_add_epi32(a, b), u32::wrapping_add);
    }

    #[target_feature(enable = "avx2")]
    pub fn sums_i32(input: Input<'_, i32>, before: i32, out: &mut [i32]) {
        sums_u32(words(input), before.cast_unsigned(), cast_slice_mut(out));
    }

    fn words<T: Pod>(input: Input<'_, T>) -> Input<'_, u32> {
        Input { values: cast_slice(input.values), ahead: cast_slice(input.ahead) }
    }

    /// Processes two vectors at a time: the preceding sum is added once for sixteen values.
    #[target_feature(enable = "avx2")]
    fn sums(
        input: Input<'_, u32>,
        before: u32,
        out: &mut [u32],
        add: impl Fn(__m256i, __m256i) -> __m256i,
        one: impl Fn(u32, u32) -> u32,
    ) {
        let last = _mm256_set1_epi32(7);
        // Running sums within a vector: of two, of four, then the lower half's sum is added to the upper half.
        let within = |v| {
            let twos = add(v, _mm256_slli_si256::<4>(v));
            let fours = add(twos, _mm256_slli_si256::<8>(twos));
            let ends = _mm256_shuffle_epi32::<0xff>(fours);
            add(fours, _mm256_permute2x128_si256::<0x08>(ends, ends))
        };
        let (pairs, rest) = input.values.as_chunks::<16>();
        let mut ahead = input.ahead.chunks(16);
        let (out_pairs, out_rest) = out.as_chunks_mut::<16>();
        let mut carry = _mm256_set1_epi32(before.cast_signed());
        for (pair, out) in pairs.iter().zip(out_pairs) {
            prefetch(ahead.next().unwrap_or_default());
            let [a, b]: [__m256i; 2] = cast(*pair);
            let (a, b) = (within(a), within(b));
            let (sum_a, sum_b) = (_mm256_permutevar8x32_epi32(a, last), _mm256_permutevar8x32_epi32(b, last));
            *out = cast([add(a, carry), add(b, add(carry, sum_a))]);
            carry = add(carry, add(sum_a, sum_b));
        }
        let [mut before, ..]: [u32; 8] = cast(carry);
        for (value, out) in rest.iter().zip(out_rest) {
            before = one(before, *value);
            *out = before;
        }
    }
}
