//! A result, as data that says what it is: what `--json` writes.

use crate::bench::grid::Mode;
use crate::bench::machine::{Device, Machine};
use crate::bench::stats::Stats;
use pixelferry::report::Ratio;
use serde::Serialize;

/// Name in [`Record::schema`].
pub const SCHEMA: &str = "pixelferry-bench";
/// Rises when older readers would misread a result.
pub const SCHEMA_VERSION: u32 = 4;

/// Everything that was measured, on what, and how. Times are microseconds for one frame unless a name says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of the library.
    pub pixelferry: String,
    /// Time at which it began, RFC 3339, UTC.
    pub started: String,
    /// Duration of the run.
    pub seconds: f64,
    /// The machine.
    pub machine: Machine,
    /// Compute devices.
    pub compute: Vec<Device>,
    /// Displays.
    pub displays: Vec<Device>,
    /// Method of the measurement.
    pub method: Method,
    /// Number of cells in which the automatic choice was right.
    pub summary: Summary,
    /// Measured cells.
    pub cells: Vec<Cell>,
    /// Cells that were not measured, and why.
    pub left_out: Vec<Skipped>,
    /// Devices that did not open, and other trouble.
    pub problems: Vec<String>,
}

/// Method of the measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// In words, a sentence each.
    pub description: Vec<String>,
    /// Frames asked for, for each row.
    pub frames: usize,
    /// Time that was given to everything.
    pub budget_seconds: f64,
    /// An automatic choice at most so much slower than the best counts as right; a fraction.
    pub tolerance: f64,
}

/// One pairing at one size, format and mode.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// Label of the compute device.
    pub compute: String,
    /// Label of the display.
    pub display: String,
    /// Name of the size.
    pub size: String,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Pixel format.
    pub format: String,
    /// Mode in which frames follow each other.
    pub mode: Mode,
    /// Bytes of one frame.
    pub frame_bytes: u64,
    /// Frames behind one sample: 1, or those of a run.
    pub frames_per_sample: usize,
    /// Measured rows, in the order of tables.
    pub rows: Vec<Row>,
    /// Rows that were not, and why.
    pub skipped: Vec<Skipped>,
    /// Verdict on the automatic choice; none if that choice or every path is missing.
    pub verdict: Option<Verdict>,
}

/// Kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// No path: what its parts cost alone.
    Floor,
    /// A path that was asked for.
    Path,
    /// The path that the library chooses automatically.
    Automatic,
}

/// Properties of a row that are known before it is measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowInfo {
    /// Name, the same in every result.
    pub row: String,
    /// Kind of the row.
    pub kind: RowKind,
    /// The path in use.
    pub path: Option<String>,
    /// Synchronisation of the two sides.
    pub sync: Option<String>,
    /// Number of frames behind.
    pub frames_behind: usize,
    /// Time that opening the link took, choosing and proof by pixels included; milliseconds.
    pub opened_ms: Option<f64>,
    /// Reason for this path.
    pub why: Option<String>,
    /// The path that the start took, where another was taken later, when there was time to compare.
    pub started_with: Option<String>,
}

/// A row that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Properties known before the measurement.
    #[serde(flatten)]
    pub info: RowInfo,
    /// Figures of all samples.
    pub stats: Stats,
    /// Every sample, by the rounds in which rows took turns; rounds of the same index ran side by side.
    pub rounds_us: Vec<Vec<f64>>,
    /// More rounds of the automatic row and of the best path row alone, where those of all rows left open which is ahead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone_us: Vec<Vec<f64>>,
}

/// Something that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Row or cell.
    pub what: String,
    /// Reason why it was skipped.
    pub reason: String,
}

/// The automatic choice beside the best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The best path row.
    pub best: String,
    /// Its median.
    pub best_us: f64,
    /// The path that was chosen automatically.
    pub automatic_path: String,
    /// Its median.
    pub automatic_us: f64,
    /// Automatic over best, round by round; of the rounds alone where there were any.
    pub ratio: Ratio,
    /// Median of the quickest row of the chosen path when it is asked for by name.
    pub same_path_us: Option<f64>,
    /// Within the tolerance.
    pub within: bool,
    /// Another path or lateness is the best, and the distance is larger than its uncertainty allows for. A miss that is
    /// not clear is too close to call.
    pub clear: bool,
    /// Neither: the interval of the distance has the tolerance in it, and the best is another path or lateness.
    pub undecided: bool,
    /// Explanation of the verdict.
    pub why: String,
}

/// Number of cells in which the automatic choice was right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Cells with a verdict.
    pub cells: usize,
    /// Number of these that are within the tolerance.
    pub within: usize,
    /// Number of the others whose distance is clearly larger.
    pub clear_misses: usize,
    /// Cells, within the tolerance or not, that the noise leaves undecided.
    pub undecided: usize,
}

impl Summary {
    /// Cells that are decided, and those of them where the choice is right.
    pub const fn decided(&self) -> (usize, usize) {
        let decided = self.cells.saturating_sub(self.undecided);
        (decided, decided.saturating_sub(self.clear_misses))
    }
}

impl Cell {
    /// `1080p RGBA8`.
    pub fn picture(&self) -> String {
        format!("{} {}", self.size, self.format)
    }

    /// Both sides.
    pub fn pairing(&self) -> String {
        format!("{} -> {}", self.compute, self.display)
    }

    /// A name that is the same in every result.
    pub fn key(&self) -> String {
        format!("{}, {}, {}", self.pairing(), self.picture(), self.mode)
    }

    /// The row of this name.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.info.row == name)
    }
}
