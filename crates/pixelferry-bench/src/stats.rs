//! Robust figures of samples, and of two rows that took turns.

use serde::{Deserialize, Serialize};

/// Figures of one row, microseconds a frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Samples.
    pub n: usize,
    /// Half of the samples are below.
    pub median_us: f64,
    /// A quarter of the samples is below.
    pub q1_us: f64,
    /// Three quarters of the samples are below.
    pub q3_us: f64,
    /// 99 of 100 samples are below; of few samples nearly the largest.
    pub p99_us: f64,
    /// The smallest sample.
    pub min_us: f64,
    /// The largest sample.
    pub max_us: f64,
}

impl Stats {
    /// Of all samples; zeros of none.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = samples.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |part| sorted_quantile(&sorted, part);
        Self {
            n: sorted.len(),
            median_us: at(0.5),
            q1_us: at(0.25),
            q3_us: at(0.75),
            p99_us: at(0.99),
            min_us: at(0.0),
            max_us: at(1.0),
        }
    }
}

/// The value below which `part` of the samples lie, interpolated between neighbours; 0 of none.
pub fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted_quantile(&sorted, part)
}

fn sorted_quantile(sorted: &[f64], part: f64) -> f64 {
    let place = sorted.len().saturating_sub(1) as f64 * part.clamp(0.0, 1.0);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    match (sorted.get(low), sorted.get(high)) {
        (Some(a), Some(b)) => a + (b - a) * place.fract(),
        _ => 0.0,
    }
}

/// How one row's time relates to another's, from rounds in which both had their turn: what slows the machine down for a
/// while slows both, and leaves the ratio as it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Median over the rounds of the ratio of the two medians.
    pub ratio: f64,
    /// Half the width of a 95 % interval of that median.
    pub uncertainty: f64,
}

impl Ratio {
    /// Of the rounds of two rows; `None` where they have no round in common.
    pub fn of(rows: &[Vec<f64>], base: &[Vec<f64>]) -> Option<Self> {
        let ratios: Vec<f64> = rows
            .iter()
            .zip(base)
            .filter(|(a, b)| !a.is_empty() && !b.is_empty())
            .map(|(a, b)| quantile(a, 0.5) / quantile(b, 0.5))
            .filter(|r| r.is_finite())
            .collect();
        if ratios.is_empty() {
            return None;
        }
        let ratio = quantile(&ratios, 0.5);
        let uncertainty = match ratios.len() {
            // Too few for quartiles to mean anything: as far as any lies from the middle.
            0..4 => ratios.iter().map(|r| (r - ratio).abs()).fold(0.0, f64::max),
            // The standard error of a median of normal samples is 1.253 sigma / sqrt(n), their quartiles lie 1.349 sigma
            // apart, and 95 % lie within 1.96 errors.
            n => 1.96 * 1.253 / 1.349 * (quantile(&ratios, 0.75) - quantile(&ratios, 0.25)) / (n as f64).sqrt(),
        };
        Some(Self { ratio, uncertainty })
    }

    /// How far above 1 the ratio is, as a fraction.
    pub fn distance(&self) -> f64 {
        self.ratio - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_known_samples() {
        let stats = Stats::of((1..=101).rev().map(f64::from));
        assert_eq!((stats.n, stats.median_us, stats.q1_us, stats.q3_us), (101, 51.0, 26.0, 76.0));
        assert_eq!((stats.p99_us, stats.min_us, stats.max_us), (100.0, 1.0, 101.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
        assert_eq!(Stats::of([]).median_us, 0.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
    }

    #[test]
    fn one_slow_frame_moves_only_the_tail() {
        let stats = Stats::of((0..200).map(|i| if i == 50 { 9000.0 } else { 100.0 + f64::from(i % 5) }));
        assert_eq!((stats.median_us, stats.q1_us, stats.q3_us), (102.0, 101.0, 103.0));
        assert_eq!(stats.max_us, 9000.0);
    }

    #[test]
    fn drift_that_hits_both_rows_leaves_their_ratio() {
        let row =
            |factor: f64| (0..10).map(|round| vec![factor * (100.0 + 30.0 * f64::from(round)); 3]).collect::<Vec<_>>();
        let ratio = Ratio::of(&row(1.1), &row(1.0)).unwrap();
        assert!((ratio.distance() - 0.1).abs() < 1e-9 && ratio.uncertainty < 1e-9, "{ratio:?}");
        let noisy: Vec<_> = (0..10).map(|round| vec![100.0 + f64::from(round % 4) * 10.0]).collect();
        assert!(Ratio::of(&noisy, &row(1.0)).unwrap().uncertainty > 0.05);
        assert_eq!(Ratio::of(&[], &row(1.0)), None);
        assert_eq!(Ratio::of(&[vec![]], &[vec![1.0]]), None);
    }
}
