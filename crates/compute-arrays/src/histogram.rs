//! How often numbers fall into parts of a range.

/// Counts of numbers in 65 536 equal parts of a range. Percentiles from it are off by no more than the width of a part.
///
/// ```
/// use compute_arrays::Histogram;
///
/// let numbers: Vec<f64> = (0..=1000).map(f64::from).collect();
/// let counted = Histogram::new(0.0, 1000.0).counted(&numbers);
/// assert!((counted.percentile(99.0) - 990.0).abs() <= counted.error());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    low: f64,
    high: f64,
    counts: Vec<u64>,
}

impl Histogram {
    /// Parts of the range.
    pub const BINS: usize = 65_536;

    /// Counts nothing yet, from `low` to `high`.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high, counts: vec![0; Self::BINS] }
    }

    /// Takes counts that a device made; those that are missing are 0.
    #[must_use]
    pub fn of_counts(low: f64, high: f64, counts: &[u32]) -> Self {
        let mut made = Self::new(low, high);
        made.counts.iter_mut().zip(counts).for_each(|(count, found)| *count = u64::from(*found));
        made
    }

    /// Counts more numbers. Those outside of the range and NaN are passed over.
    #[must_use]
    pub fn counted(mut self, numbers: &[f64]) -> Self {
        let scale = Self::BINS as f64 / (self.high - self.low);
        for number in numbers {
            if (self.low..=self.high).contains(number) {
                // Casts saturate, and NaN, of a range of one number, becomes 0.
                let bin = ((number - self.low) * scale) as usize;
                self.counts[bin.min(Self::BINS - 1)] += 1;
            }
        }
        self
    }

    /// Both counts as one; the ranges are the same.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self
    }

    /// Lowest and highest number of the range.
    pub const fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Counts, of the lowest part first.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Width of a part: how far a percentile may be off.
    pub fn error(&self) -> f64 {
        (self.high - self.low) / Self::BINS as f64
    }

    /// The number that `percent` of all are not above; between two numbers it is as far as between their places. The lowest
    /// of the range where nothing was counted.
    pub fn percentile(&self, percent: f64) -> f64 {
        let all: u64 = self.counts.iter().sum();
        let place = percent.clamp(0.0, 100.0) / 100.0 * all.saturating_sub(1) as f64;
        let mut before = 0.0;
        for (bin, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let count = *count as f64;
            if place < before + count {
                let inside = (place - before + 0.5) / count;
                return self.low + (bin as f64 + inside.min(1.0)) * self.error();
            }
            before += count;
        }
        self.low
    }
}
