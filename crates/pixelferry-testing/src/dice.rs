//! Numbers that are the same in every run.

/// Knuth's linear congruential generator of 64 bits, of which the upper ones are taken. The number is the seed.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// A number below `sides`, which is not 0.
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
