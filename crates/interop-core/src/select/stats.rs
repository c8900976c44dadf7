//! Figures of a path: robust against the one frame that the system took its time for.

use crate::capability::SyncKind;
use serde::Serialize;

/// What a path costs, end to end: a kernel that writes every pixel, the hand-over, a draw that reads every pixel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// How the two sides were kept apart.
    pub sync: SyncKind,
    /// How late frames were shown.
    pub frames_late: usize,
    /// Median, microseconds a frame.
    pub median_us: f64,
    /// 99th percentile, microseconds; of few samples the largest.
    pub p99_us: f64,
    /// Third minus first quartile, microseconds.
    pub spread_us: f64,
    /// Every sample, microseconds a frame.
    pub samples_us: Vec<f64>,
}

impl Measured {
    pub(super) fn of(sync: SyncKind, frames_late: usize, samples: &[f64]) -> Self {
        Self {
            sync,
            frames_late,
            median_us: quantile(samples, 0.5),
            p99_us: quantile(samples, 0.99),
            spread_us: quantile(samples, 0.75) - quantile(samples, 0.25),
            samples_us: samples.to_vec(),
        }
    }
}

/// The sample below which `part` of all lie, the nearest one; 0 of none.
pub(super) fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_frame_moves_only_the_tail() {
        let mut samples: Vec<f64> = (0..99).map(|i| 100.0 + f64::from(i % 3)).collect();
        samples.push(5000.0);
        let measured = Measured::of(SyncKind::Finish, 0, &samples);
        assert_eq!((measured.median_us, measured.spread_us), (101.0, 2.0));
        assert!(measured.p99_us <= 5000.0 && measured.samples_us.len() == 100);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
    }
}
