//! Robust statistics of samples, and of two rows that took turns.

use pixelferry::driver::select::{Ratio, quantile, quantiles};
use serde::Serialize;

/// Statistics of one row, microseconds per frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stats {
    /// Number of samples.
    pub n: usize,
    /// Median: half of the samples are below.
    pub median_us: f64,
    /// First quartile: a quarter of the samples is below.
    pub q1_us: f64,
    /// Third quartile: three quarters of the samples are below.
    pub q3_us: f64,
    /// 99th percentile; with few samples nearly the maximum.
    pub p99_us: f64,
    /// Smallest sample.
    pub min_us: f64,
    /// Largest sample.
    pub max_us: f64,
}

impl Stats {
    /// Computes the statistics; all zero without samples.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let samples: Vec<f64> = samples.into_iter().collect();
        let [min_us, q1_us, median_us, q3_us, p99_us, max_us] = quantiles(&samples, [0.0, 0.25, 0.5, 0.75, 0.99, 1.0]);
        Self { n: samples.len(), median_us, q1_us, q3_us, p99_us, min_us, max_us }
    }
}

/// Compares one row's times with another's over the rounds in which both were measured; `None` without such rounds.
pub fn ratio(rows: &[Vec<f64>], base: &[Vec<f64>]) -> Option<Ratio> {
    let both = rows.iter().zip(base).filter(|(a, b)| !a.is_empty() && !b.is_empty());
    Ratio::of_rounds(both.map(|(a, b)| quantile(a, 0.5) / quantile(b, 0.5)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_known_samples() {
        let stats = Stats::of((1..=101).rev().map(f64::from));
        assert_eq!((stats.n, stats.median_us, stats.q1_us, stats.q3_us), (101, 51.0, 26.0, 76.0));
        assert_eq!((stats.p99_us, stats.min_us, stats.max_us), (100.0, 1.0, 101.0));
        assert_eq!(Stats::of([]).median_us, 0.0);
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
        let found = ratio(&row(1.1), &row(1.0)).unwrap();
        assert!((found.distance() - 0.1).abs() < 1e-9 && found.uncertainty < 1e-9, "{found:?}");
        let noisy: Vec<_> = (0..10).map(|round| vec![100.0 + f64::from(round % 4) * 10.0]).collect();
        assert!(ratio(&noisy, &row(1.0)).unwrap().uncertainty > 0.05);
        assert_eq!(ratio(&[], &row(1.0)), None);
        assert_eq!(ratio(&[vec![]], &[vec![1.0]]), None);
    }
}
