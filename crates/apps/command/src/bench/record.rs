//! A result as data: the content of `--json`.

use crate::bench::grid::Mode;
use crate::bench::machine::{Device, Machine};
use crate::bench::stats::Stats;
use pixelferry::report::Ratio;
use serde::Serialize;

/// Value of [`Record::schema`].
pub const SCHEMA: &str = "pixelferry-bench";
/// Increases when older readers would misread a result.
pub const SCHEMA_VERSION: u32 = 5;

/// Everything that was measured, with machine and method. Times are microseconds per frame unless a name says
/// otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Always [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of the library.
    pub pixelferry: String,
    /// Start time, RFC 3339, UTC.
    pub started: String,
    /// Duration of the run in seconds.
    pub seconds: f64,
    pub machine: Machine,
    /// Compute devices.
    pub compute: Vec<Device>,
    pub displays: Vec<Device>,
    pub method: Method,
    pub summary: Summary,
    pub cells: Vec<Cell>,
    /// Cells that were not measured, with reasons.
    pub left_out: Vec<SkippedItem>,
    /// Devices that did not open, and other problems.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// Description in sentences.
    pub description: Vec<String>,
    /// Requested frames per row.
    pub frames: usize,
    /// Time budget of the whole run.
    pub budget_seconds: f64,
    /// Largest slowdown of the automatic choice that counts as right, as a fraction.
    pub tolerance: f64,
}

/// One pairing at one size, format and mode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Label of the compute device, see [`Device::label`].
    pub compute: String,
    /// Label of the display, see [`Device::label`].
    pub display: String,
    /// Name of the size.
    pub size: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    pub format: String,
    /// Latency or throughput.
    pub mode: Mode,
    /// Bytes of one frame.
    pub frame_bytes: u64,
    /// Frames per sample: 1 for latency, the length of a run for throughput.
    pub frames_per_sample: usize,
    /// Measured rows, in the order of tables.
    pub rows: Vec<BenchRow>,
    /// Rows that were not measured, with reasons.
    pub skipped: Vec<SkippedItem>,
    /// Verdict on the automatic choice; `None` if that choice or every path is missing.
    pub verdict: Option<Verdict>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// A lower limit, which is no path: the cost of the parts alone.
    Floor,
    /// A path selected by name.
    Path,
    /// The path that the library chooses automatically.
    Automatic,
}

/// Properties of a row that are known before it is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowInfo {
    /// Name, the same in every result.
    pub row: String,
    pub kind: RowKind,
    /// The current path.
    pub path: Option<String>,
    /// How the two sides are synchronised.
    pub sync: Option<String>,
    /// Number of frames that the display lags behind.
    pub frames_behind: usize,
    /// Time to open the link, with path selection and proof by pixels, in milliseconds.
    pub opened_ms: Option<f64>,
    /// Reason for this path.
    pub why: Option<String>,
    /// Path at the start, if a later comparison chose another one.
    pub started_with: Option<String>,
}

/// A measured row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchRow {
    /// Properties known before the measurement.
    #[serde(flatten)]
    pub info: RowInfo,
    /// Statistics over all samples.
    pub stats: Stats,
    /// Every sample, grouped by round. Rounds of the same index ran side by side.
    pub rounds_us: Vec<Vec<f64>>,
    /// Further rounds of only the automatic row and the best path row, when the common rounds left open which is
    /// faster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone_us: Vec<Vec<f64>>,
}

/// A row or cell that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedItem {
    /// Name of the row or cell.
    pub what: String,
    /// Reason for skipping it.
    pub reason: String,
}

/// Comparison of the automatic choice with the best path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Name of the best path row.
    pub best: String,
    /// Median of the best row.
    pub best_us: f64,
    /// The automatically chosen path.
    pub automatic_path: String,
    /// Median of the automatic row.
    pub automatic_us: f64,
    /// Automatic time over best time, round by round. Uses the separate rounds of the two if there are any.
    pub ratio: Ratio,
    /// Median of the fastest row that forces the chosen path.
    pub same_path_us: Option<f64>,
    /// Whether the automatic choice is within the tolerance.
    pub within: bool,
    /// Whether the choice is a clear miss: another path or lateness is best, and the difference exceeds its
    /// uncertainty. A miss that is not clear is too close to call.
    pub clear: bool,
    /// Whether noise leaves the verdict open: the interval contains the tolerance, and another path or lateness is
    /// best.
    pub undecided: bool,
    /// Explanation of the verdict.
    pub why: String,
}

/// Counts of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Cells with a verdict.
    pub cells: usize,
    /// Cells within the tolerance.
    pub within: usize,
    /// Cells outside the tolerance with a clear difference.
    pub clear_misses: usize,
    /// Cells, within the tolerance or not, that noise leaves undecided.
    pub undecided: usize,
}

impl Summary {
    /// Returns the number of decided cells, and how many of them are right.
    pub const fn decided(&self) -> (usize, usize) {
        let decided = self.cells.saturating_sub(self.undecided);
        (decided, decided.saturating_sub(self.clear_misses))
    }
}

impl Cell {
    /// Returns size and format, such as `1080p RGBA8`.
    pub fn picture(&self) -> String {
        format!("{} {}", self.size, self.format)
    }

    /// Returns the labels of both sides.
    pub fn pairing(&self) -> String {
        format!("{} -> {}", self.compute, self.display)
    }

    /// Returns a name that is equal in every result.
    pub fn key(&self) -> String {
        format!("{}, {}, {}", self.pairing(), self.picture(), self.mode)
    }

    /// Returns the row of this name.
    pub fn row(&self, name: &str) -> Option<&BenchRow> {
        self.rows.iter().find(|row| row.info.row == name)
    }
}
