//! How often numbers fall into parts of a range.

/// The power of two that numbers of a range are multiplied by before they are compared with its ends: its extent is no number of its own
/// where the ends are far apart, and its reciprocal is not finite where they are very close.
pub fn factor(low: f64, high: f64) -> f64 {
    match (high - low).abs() {
        f64::INFINITY => 0.5,
        extent if extent < 1e-290 => 2_f64.powi(600),
        _ => 1.0,
    }
}

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
    /// All counts together.
    sum: u64,
    /// Of a part of another's range: how many numbers are below it, and how many there are in all.
    whole: Option<(u64, u64)>,
}

impl Histogram {
    /// Parts of the range.
    pub const BINS: usize = 65_536;

    /// Counts nothing yet, from `low` to `high`.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high, counts: vec![0; Self::BINS], sum: 0, whole: None }
    }

    /// Takes counts that a device made; those that are missing are 0.
    #[must_use]
    pub fn of_counts(low: f64, high: f64, counts: &[u32]) -> Self {
        Self::new(low, high).with_counts(counts)
    }

    /// Counts what a device counted from the lowest to the highest number, too.
    #[must_use]
    pub fn with_counts(mut self, counts: &[u32]) -> Self {
        for (count, found) in self.counts.iter_mut().zip(counts) {
            *count += u64::from(*found);
            self.sum += u64::from(*found);
        }
        self
    }

    /// Counts more numbers. Those outside of the range and NaN are passed over.
    #[must_use]
    pub fn counted(mut self, numbers: &[f64]) -> Self {
        let factor = factor(self.low, self.high);
        let scale = Self::BINS as f64 / (self.high * factor - self.low * factor);
        for number in numbers {
            if (self.low..=self.high).contains(number) {
                // Casts saturate, and NaN, of a range of one number, becomes 0.
                let bin = ((number * factor - self.low * factor) * scale) as usize;
                self.counts[bin.min(Self::BINS - 1)] += 1;
                self.sum += 1;
            }
        }
        self
    }

    /// Both counts as one; the ranges are the same.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.sum += other.sum;
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
        let factor = factor(self.low, self.high);
        (self.high * factor - self.low * factor) / Self::BINS as f64 / factor
    }

    /// The number so many parts above the lowest.
    fn at(&self, parts: f64) -> f64 {
        let factor = factor(self.low, self.high);
        let low = self.low * factor;
        (low + parts * ((self.high * factor - low) / Self::BINS as f64)) / factor
    }

    /// The number that `percent` of all are not above; between two numbers it is as far as between their places. The lowest
    /// of the range where nothing was counted.
    pub fn percentile(&self, percent: f64) -> f64 {
        let place = place(percent, self.ranks().1);
        match self.bin(place) {
            Some((bin, before)) => {
                let inside = (place - before as f64 + 0.5) / self.counts[bin] as f64;
                self.at(bin as f64 + inside.min(1.0))
            }
            // Numbers on an edge may have been counted on its other side.
            None if self.sum > 0 => self.high,
            None => self.low,
        }
    }

    /// How many numbers are below the range, and how many there are in all.
    fn ranks(&self) -> (u64, u64) {
        self.whole.unwrap_or((0, self.sum))
    }

    /// The part that has the number at a place in the order of all, and how many are before that part.
    fn bin(&self, place: f64) -> Option<(usize, u64)> {
        /// Parts that are passed over at once.
        const STEP: usize = 256;
        let mut before = self.ranks().0;
        let mut passed = |counts: &[u64]| {
            let (start, sum) = (before, counts.iter().sum::<u64>());
            let is_there = sum > 0 && place < (start + sum) as f64;
            if !is_there {
                before += sum;
            }
            is_there
        };
        let step = self.counts.chunks(STEP).position(&mut passed)? * STEP;
        let bin = step + self.counts[step..].chunks(1).position(passed)?;
        Some((bin, before))
    }

    /// The part of the range where these percentiles are, to count the same numbers again; its percentiles are those of all of
    /// them. `None` where the parts are narrow enough as it is: more than 256 of them are between the percentiles, or hardly any number
    /// is there.
    ///
    /// ```
    /// use compute_arrays::Histogram;
    ///
    /// // One number far from all others.
    /// let numbers: Vec<f64> = (0..1000).map(f64::from).chain([1e9]).collect();
    /// let coarse = Histogram::new(0.0, 1e9).counted(&numbers);
    /// let narrow = coarse.narrowed(&[1.0, 99.0]).ok_or("narrow as it is")?.counted(&numbers);
    /// assert!((narrow.percentile(99.0) - 990.0).abs() < 1.0 && (coarse.percentile(99.0) - 990.0).abs() > 1000.0);
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn narrowed(&self, percents: &[f64]) -> Option<Self> {
        const ENOUGH: usize = 256;
        let (_, all) = self.ranks();
        let places = percents.iter().map(|percent| place(*percent, all));
        let (first, last) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), at| (a.min(at), b.max(at)));
        let (start, below) = self.bin(first)?;
        let end = self.bin(last).map_or(Self::BINS - 1, |(bin, _)| bin);
        let there: u64 = self.counts[start..=end].iter().sum();
        let is_enough = end - start >= ENOUGH || there * (ENOUGH as u64) < all;
        let edge = |bin: usize| self.at(bin as f64);
        let (low, high) = (edge(start), edge(end + 1).min(self.high));
        // Numbers have no more digits than that.
        let is_finest = !(self.low < low || high < self.high) || low + (high - low) / Self::BINS as f64 <= low;
        (!(is_enough || is_finest)).then(|| Self { whole: Some((below, all)), ..Self::new(low, high) })
    }
}

/// Place of a percentile in the order of so many numbers.
fn place(percent: f64, all: u64) -> f64 {
    percent.clamp(0.0, 100.0) / 100.0 * all.saturating_sub(1) as f64
}
