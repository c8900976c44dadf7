//! Random numbers that are the same for the same seed.

#![forbid(unsafe_code)]

use std::ops::Range;

/// SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A sequence of its own for every list of numbers: seed, area, round, step.
    pub fn of(numbers: &[u64]) -> Self {
        let mut rng = Self(0);
        for number in numbers {
            rng.0 ^= number.wrapping_mul(0xD6E8_FEB8_6659_FD93);
            rng.0 = rng.bits();
        }
        rng
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// 32 random bits.
    pub fn word(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// 0 to `end - 1`; 0 where `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % (end.max(1) as u64)) as usize
    }

    /// A number of `range`.
    pub fn within(&mut self, range: Range<usize>) -> usize {
        range.start + self.below(range.len())
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `all`, which is not empty.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// `len` random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.bits().to_le_bytes()[..piece.len()]);
        }
        bytes
    }
}
