//! Grid of measurements: every compute device with every display, size, format and mode.

use crate::bench::size::Size;
use pixelferry::PixelFormat;
use pixelferry::driver::select::MAX_FRAMES_BEHIND;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// Mode in which frames follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Every frame is waited for before the next begins.
    Latency,
    /// A run of frames is waited for at its end; paths that can show frames behind do.
    Throughput,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 2] = [Self::Latency, Self::Throughput];

    /// Name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Plan of the measurements, and their duration.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Sizes and their formats.
    pub pictures: Vec<(Size, PixelFormat)>,
    /// Modes of each.
    pub modes: Vec<Mode>,
    /// Words for compute devices; none: all.
    pub backends: Vec<String>,
    /// Words for displays; none: all.
    pub displays: Vec<String>,
    /// Leave plain memory out where there is another display.
    pub spare_memory: bool,
    /// Frames for each row, where time allows.
    pub frames: usize,
    /// Time for everything.
    pub budget: Duration,
}

impl Plan {
    /// The cells of one pairing, in the order in which they are measured.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Spot> {
        let of_picture = |(size, format): &(Size, PixelFormat)| {
            let (size, format) = (*size, *format);
            self.modes.iter().map(move |mode| Spot { size, format, mode: *mode })
        };
        self.pictures.iter().flat_map(of_picture)
    }
}

/// One cell of one pairing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spot {
    pub size: Size,
    pub format: PixelFormat,
    pub mode: Mode,
}

/// Frames behind in throughput mode, where the lateness is not measured.
pub(crate) const LATE: usize = 2;
/// Most memory of one link's ring, bytes.
const MOST_RING_BYTES: u64 = 1280 << 20;
/// Frames that all rows of a cell hold at once, about: 12 paths with a ring of three and a surface, those that are late
/// twice with more.
const FRAMES_LATENCY: u64 = 12 * 4;
const FRAMES_THROUGHPUT: u64 = 12 * 10;

impl Spot {
    /// Bytes of one frame.
    pub fn bytes(&self) -> u64 {
        self.size.extent.pixels().saturating_mul(self.format.bytes_per_pixel() as u64)
    }

    /// Share of the time that the cell gets, of no unit.
    pub fn weight(&self) -> f64 {
        // Even a tiny frame has drivers to call and paths to open.
        let frame = self.bytes() as f64 + f64::from(4 << 20);
        match self.mode {
            Mode::Latency => frame,
            Mode::Throughput => 1.5 * frame,
        }
    }

    /// Memory that the cell needs at once, bytes, about.
    pub fn memory(&self) -> u64 {
        self.bytes().saturating_mul(match self.mode {
            Mode::Latency => FRAMES_LATENCY,
            Mode::Throughput => FRAMES_THROUGHPUT,
        })
    }

    /// Tells how late frames may be where that is measured: as far as a ring of two slots for each stays small.
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
