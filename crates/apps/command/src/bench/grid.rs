//! The grid of measurements: every compute device with every display, size, format and mode.

use crate::bench::size::Size;
use pixelferry::PixelFormat;
use pixelferry::driver::select::MAX_FRAMES_BEHIND;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// How frames follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Each frame is awaited before the next begins.
    Latency,
    /// A run of frames is awaited once, at its end; paths that support it show older frames.
    Throughput,
}

impl Mode {
    pub const ALL: [Self; 2] = [Self::Latency, Self::Throughput];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
        })
    }
}

/// What to measure, and for how long.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Sizes and their formats.
    pub pictures: Vec<(Size, PixelFormat)>,
    /// Modes to measure for each picture.
    pub modes: Vec<Mode>,
    /// Words that select compute devices; empty for all.
    pub backends: Vec<String>,
    /// Words that select displays; empty for all.
    pub displays: Vec<String>,
    /// Leave plain memory out if there is another display.
    pub spare_memory: bool,
    /// Frames for each row, if time allows.
    pub frames: usize,
    /// Time for the whole run.
    pub budget: Duration,
}

impl Plan {
    /// Returns the cells of one pairing, in the order of measuring.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Spot> {
        let of_picture = |(size, format): &(Size, PixelFormat)| {
            let (size, format) = (*size, *format);
            self.modes.iter().map(move |mode| Spot { size, format, mode: *mode })
        };
        self.pictures.iter().flat_map(of_picture)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spot {
    pub size: Size,
    pub format: PixelFormat,
    pub mode: Mode,
}

/// Frames behind in throughput mode, unless the lateness is measured.
pub(crate) const LATE: usize = 2;
/// Memory limit of one link's ring, bytes.
const MOST_RING_BYTES: u64 = 1280 << 20;
/// Approximate number of frames that all rows of a cell hold at once: 12 paths with a ring of three and a surface each,
/// and late paths twice, with more.
const FRAMES_LATENCY: u64 = 12 * 4;
const FRAMES_THROUGHPUT: u64 = 12 * 10;

impl Spot {
    pub fn bytes(&self) -> u64 {
        self.size.extent.pixels().saturating_mul(self.format.bytes_per_pixel() as u64)
    }

    /// Weight of the cell when time is shared out; has no unit.
    pub fn weight(&self) -> f64 {
        // Even a tiny frame needs driver calls and open paths.
        let frame = self.bytes() as f64 + f64::from(4 << 20);
        match self.mode {
            Mode::Latency => frame,
            Mode::Throughput => 1.5 * frame,
        }
    }

    /// Approximate memory that the cell needs at once, bytes.
    pub fn memory(&self) -> u64 {
        self.bytes().saturating_mul(match self.mode {
            Mode::Latency => FRAMES_LATENCY,
            Mode::Throughput => FRAMES_THROUGHPUT,
        })
    }

    /// Largest lateness to measure: as far as a ring of two slots per frame stays small.
    pub fn most_behind(&self) -> usize {
        let slots = usize::try_from(MOST_RING_BYTES / self.bytes().max(1)).unwrap_or(usize::MAX);
        (slots.saturating_sub(2) / 2).clamp(1, MAX_FRAMES_BEHIND)
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.size, self.format, self.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_frames_get_more_time_and_less_lateness() {
        let spot =
            |text: &str| Spot { size: text.parse().unwrap(), format: PixelFormat::Rgba8, mode: Mode::Throughput };
        assert!(spot("4K").weight() > 2.0 * spot("1080p").weight());
        assert_eq!(spot("1080p").most_behind(), MAX_FRAMES_BEHIND);
        assert!((1..8).contains(&spot("8K").most_behind()));
        assert_eq!(spot("4294967295x4294967295").most_behind(), 1);
        assert_eq!(spot("4294967295x4294967295").memory(), u64::MAX);
    }
}
