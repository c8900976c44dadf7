//! Statistics that are robust against single slow frames: quantiles, ratios and ranks.

use serde::{Deserialize, Serialize};

/// Returns the value below which the share `part` of the samples lies, interpolated between neighbours; 0 without
/// samples.
pub fn quantile(samples: &[f64], part: f64) -> f64 {
    let [value] = quantiles(samples, [part]);
    value
}

/// Like [`quantile`], for several shares at once.
pub fn quantiles<const N: usize>(samples: &[f64], parts: [f64; N]) -> [f64; N] {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    parts.map(|part| {
        let place = sorted.len().saturating_sub(1) as f64 * part.clamp(0.0, 1.0);
        match (sorted.get(place.floor() as usize), sorted.get(place.ceil() as usize)) {
            (Some(low), Some(high)) => low + (high - low) * place.fract(),
            _ => 0.0,
        }
    })
}

/// Ratio of two times, from rounds in which both had their turn: a slowdown of the machine affects both and leaves the
/// ratio unchanged.
///
/// ```
/// use interop_core::Ratio;
///
/// // Four rounds: the first took about 1.2 times as long as the second.
/// let ratio = Ratio::of_rounds([1.19, 1.21, 1.2, 1.2]);
/// assert!(ratio.is_some_and(|r| (r.ratio - 1.2).abs() < 1e-9 && r.uncertainty < 0.02));
/// assert_eq!(Ratio::of_rounds([]), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Median over the rounds of the ratio of the two times.
    pub ratio: f64,
    /// Half the width of a 95 % interval of that median.
    pub uncertainty: f64,
}

impl Ratio {
    /// Returns the median of the ratios of the rounds; `None` without a finite ratio.
    pub fn of_rounds(ratios: impl IntoIterator<Item = f64>) -> Option<Self> {
        let ratios: Vec<f64> = ratios.into_iter().filter(|r| r.is_finite()).collect();
        if ratios.is_empty() {
            return None;
        }
        let [low, ratio, high] = quantiles(&ratios, [0.25, 0.5, 0.75]);
        let uncertainty = match ratios.len() {
            // Too few for meaningful quartiles: use the largest distance from the median.
            0..4 => ratios.iter().map(|r| (r - ratio).abs()).fold(0.0, f64::max),
            // The standard error of a median of normal samples is 1.253 sigma / sqrt(n), their quartiles lie 1.349 sigma
            // apart, and 95 % lie within 1.96 errors.
            n => 1.96 * 1.253 / 1.349 * (high - low) / (n as f64).sqrt(),
        };
        Some(Self { ratio, uncertainty })
    }

    /// Returns how far the ratio is above 1, as a fraction.
    pub fn distance(&self) -> f64 {
        self.ratio - 1.0
    }

    /// Lower end of the confidence interval.
    pub fn least(&self) -> f64 {
        self.ratio - self.uncertainty
    }

    /// Upper end of the confidence interval.
    pub fn most(&self) -> f64 {
        self.ratio + self.uncertainty
    }
}

/// True where the first samples are significantly smaller than the second, with an error rate of one in ten: the
/// one-sided rank-sum test of Mann and Whitney, in its normal approximation. The few frames that took twice as long do
/// not move ranks.
pub(super) fn is_smaller(these: &[f64], than: &[f64]) -> bool {
    let pairs = these.iter().flat_map(|a| than.iter().map(move |b| (a, b)));
    let smaller: f64 = pairs
        .map(|(a, b)| {
            if a < b {
                1.0
            } else if a == b {
                0.5
            } else {
                0.0
            }
        })
        .sum();
    let (n, m) = (these.len() as f64, than.len() as f64);
    smaller - n * m / 2.0 - 0.5 > 1.28 * (n * m * (n + m + 1.0) / 12.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_samples_prove_nothing_and_many_do() {
        assert!(!is_smaller(&[1.0], &[2.0]) && !is_smaller(&[1.0, 1.0], &[2.0, 2.0]) && !is_smaller(&[], &[]));
        assert!(is_smaller(&[1.0, 1.1, 1.2], &[1.3, 1.4, 1.5]) && !is_smaller(&[1.0, 1.4, 1.2], &[1.3, 1.1, 1.5]));
        // One frame that took twice as long changes nothing.
        assert!(is_smaller(&[1.0, 1.1, 2.4, 1.0, 1.1], &[1.2, 1.3, 1.2, 1.2, 1.3]));
        let near = |shift: f64, n: u32| (0..n).map(|i| shift + f64::from(i * 7 % 10)).collect::<Vec<_>>();
        assert!(!is_smaller(&near(0.0, 8), &near(1.0, 8)) && is_smaller(&near(0.0, 200), &near(1.0, 200)));
        assert!(!is_smaller(&near(0.0, 200), &near(0.0, 200)));
    }

    #[test]
    fn the_interval_of_a_ratio_shrinks_with_the_rounds() {
        let noisy = |rounds: u32| (0..rounds).map(|round| 1.0 + 0.1 * f64::from(round % 4));
        let (few, many) = (Ratio::of_rounds(noisy(8)).unwrap(), Ratio::of_rounds(noisy(200)).unwrap());
        assert!(many.uncertainty < few.uncertainty / 4.0, "{few:?} {many:?}");
        assert!(many.least() < many.ratio && many.ratio < many.most());
        assert_eq!(Ratio::of_rounds([1.0, 1.25, 1.5]).unwrap().uncertainty, 0.25);
        assert_eq!(Ratio::of_rounds([f64::NAN, f64::INFINITY]), None);
    }
}
