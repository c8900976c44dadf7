//! Random numbers that are the same in every run.

/// Knuth's linear congruential generator of 64 bits, which returns the upper ones. The field is the seed.
#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// Returns a number below `sides`, which must not be 0.
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    /// Returns one of the elements, of which there must be at least one.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
