//! Counts of numbers in parts of a range.

/// Returns the power of two by which numbers of a range are multiplied before they are compared with its ends:
/// otherwise the extent would overflow if the ends are far apart, and its reciprocal would be infinite if they are very
/// close.
pub fn factor(low: f64, high: f64) -> f64 {
    match (high - low).abs() {
        f64::INFINITY => 0.5,
        extent if extent < 1e-290 => 2_f64.powi(600),
        _ => 1.0,
    }
}

/// Counts of numbers in 65 536 equal parts of a range. Percentiles computed from it have an error of at most the width
/// of a part.
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
    /// Sum of all counts.
    sum: u64,
    /// For a part of another histogram's range: the number of values below it, and the total number.
    whole: Option<(u64, u64)>,
}

impl Histogram {
    /// Number of parts of the range.
    pub const BINS: usize = 65_536;

    /// Creates an empty histogram from `low` to `high`.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high, counts: vec![0; Self::BINS], sum: 0, whole: None }
    }

    /// Creates a histogram from counts of a device; missing counts are 0.
    #[must_use]
    pub fn of_counts(low: f64, high: f64, counts: &[u32]) -> Self {
        Self::new(low, high).with_counts(counts)
    }

    /// Adds counts of a device over the same range.
    #[must_use]
    pub fn with_counts(mut self, counts: &[u32]) -> Self {
        for (count, found) in self.counts.iter_mut().zip(counts) {
            *count += u64::from(*found);
            self.sum += u64::from(*found);
        }
        self
    }

    /// Counts more numbers. Numbers outside the range and NaN are ignored.
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

    /// Merges two histograms of the same range.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.sum += other.sum;
        self
    }

    /// Returns the lowest and the highest number of the range.
    pub const fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Returns the counts, beginning with the lowest part.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the width of a part, which is the maximum error of a percentile.
    pub fn error(&self) -> f64 {
        let factor = factor(self.low, self.high);
        (self.high * factor - self.low * factor) / Self::BINS as f64 / factor
    }

    /// Returns the number that is this number of parts above the lowest.
    fn at(&self, parts: f64) -> f64 {
        let factor = factor(self.low, self.high);
        let low = self.low * factor;
        (low + parts * ((self.high * factor - low) / Self::BINS as f64)) / factor
    }

    /// Returns the number that `percent` of all numbers do not exceed, interpolated between neighbours. Without counted
    /// numbers it is the lowest of the range.
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

    /// Returns the number of values below the range, and the total number.
    fn ranks(&self) -> (u64, u64) {
        self.whole.unwrap_or((0, self.sum))
    }

    /// Returns the part with the number at a position in the sorted order, and the number of values before that part.
    fn bin(&self, place: f64) -> Option<(usize, u64)> {
        /// Parts that are skipped at once.
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

    /// Returns an empty histogram over the part of the range that contains these percentiles. Count the same numbers
    /// into it; its percentiles are those of all of them. `None` where the parts are narrow enough: more than 256 of
    /// them lie between the percentiles, or hardly any number does.
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

/// Returns the position of a percentile in the sorted order of this number of values.
fn place(percent: f64, all: u64) -> f64 {
    percent.clamp(0.0, 100.0) / 100.0 * all.saturating_sub(1) as f64
}
