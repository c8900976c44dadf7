//! Times of the most recent frames.

use pixelferry::driver::select::quantiles;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Number of frames to keep.
pub const KEPT: usize = 240;

/// Times of one frame, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Time from the end of the previous frame to the end of this one.
    pub interval_ms: f64,
    /// Part of the interval spent computing the picture, handing it over and drawing it.
    pub work_ms: f64,
}

/// The most recent frames, oldest first.
#[derive(Debug, Default)]
pub struct Times {
    frames: VecDeque<Frame>,
    last: Option<Instant>,
    /// Work of the newest frame, milliseconds.
    pub newest_work_ms: f64,
    /// Frames since the start.
    pub total: u64,
}

impl Times {
    /// Records the end of a frame.
    pub fn add(&mut self, now: Instant, work: Duration) {
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        (self.total, self.newest_work_ms) = (self.total + 1, ms(work));
        let Some(last) = self.last.replace(now) else { return };
        if self.frames.len() == KEPT {
            self.frames.pop_front();
        }
        let interval_ms = ms(now.saturating_duration_since(last));
        self.frames.push_back(Frame { interval_ms, work_ms: self.newest_work_ms });
    }

    /// Forgets all frames: those of another path or size say nothing about the next.
    pub fn restart(&mut self) {
        (self.frames, self.last) = (VecDeque::new(), None);
    }

    pub fn frames(&self) -> impl ExactSizeIterator<Item = Frame> {
        self.frames.iter().copied()
    }

    /// Median and 99th percentile of `of` over the frames, in milliseconds; 0 without frames.
    pub fn p50_p99(&self, of: impl Fn(Frame) -> f64) -> [f64; 2] {
        quantiles(&self.frames().map(of).collect::<Vec<_>>(), [0.5, 0.99])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frames_are_kept_and_their_percentiles_are_right() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut times = Times::default();
        times.add(start, ms(1));
        assert_eq!((times.frames().len(), times.p50_p99(|f| f.interval_ms)), (0, [0.0, 0.0]));
        assert!((times.newest_work_ms - 1.0).abs() < 1e-6);
        for n in 1..=300 {
            times.add(start + ms(10 * n), ms(4));
        }
        assert_eq!((times.frames().len(), times.total), (KEPT, 301));
        let [p50, p99] = times.p50_p99(|f| f.interval_ms);
        assert!((p50 - 10.0).abs() < 1e-6 && (p99 - 10.0).abs() < 1e-6, "{p50} {p99}");
        assert!((times.p50_p99(|f| f.work_ms)[0] - 4.0).abs() < 1e-6);
        times.restart();
        times.add(start + ms(9999), ms(1));
        assert_eq!(times.frames().len(), 0);
    }
}
