//! Results of the suite as a table.

use crate::path::PathId;
use std::collections::BTreeMap;
use std::fmt;

/// Result of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The path met its contract.
    Pass,
    /// The path deviated from its contract, as described.
    Fail(String),
    /// The case could not run, for this reason.
    Skipped(String),
}

/// One case on one path between two devices.
#[derive(Debug, Clone)]
pub struct ConformanceRow {
    /// Name of the compute device.
    pub compute: String,
    /// Name of the display device.
    pub display: String,
    /// The path that was tested.
    pub path: PathId,
    /// Name of the case.
    pub case: &'static str,
    /// Result of the case.
    pub outcome: Outcome,
}

/// Rows that print as one block for each pair of devices, with a line for each case and a column for each path. The
/// reasons follow below.
pub struct ConformanceTable<'a>(pub &'a [ConformanceRow]);

impl ConformanceTable<'_> {
    /// Returns the numbers of passed, failed and skipped cases.
    pub fn counts(&self) -> (usize, usize, usize) {
        self.0.iter().fold((0, 0, 0), |(p, f, s), row| match row.outcome {
            Outcome::Pass => (p + 1, f, s),
            Outcome::Fail(_) => (p, f + 1, s),
            Outcome::Skipped(_) => (p, f, s + 1),
        })
    }
}

impl fmt::Display for ConformanceTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for row in self.0 {
            let pair = (row.compute.as_str(), row.display.as_str());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (compute, display) in pairs {
            let rows: Vec<&ConformanceRow> =
                self.0.iter().filter(|r| r.compute == compute && r.display == display).collect();
            writeln!(f, "\n{compute}  ->  {display}")?;
            pair(f, &rows)?;
        }
        let (passed, failed, skipped) = self.counts();
        writeln!(f, "\n{passed} PASS, {failed} FAIL, {skipped} SKIPPED")
    }
}

fn pair(f: &mut fmt::Formatter<'_>, rows: &[&ConformanceRow]) -> fmt::Result {
    write!(f, "{:<34}", "")?;
    let mut paths: Vec<PathId> = Vec::new();
    for row in rows {
        if !paths.contains(&row.path) {
            paths.push(row.path);
        }
    }
    for path in &paths {
        write!(f, " {:<22}", path.name())?;
    }
    writeln!(f)?;
    let mut cases: Vec<&'static str> = Vec::new();
    for row in rows {
        if !cases.contains(&row.case) {
            cases.push(row.case);
        }
    }
    // A reason that many cells share is printed once.
    let mut reasons: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for case in cases {
        write!(f, "{case:<34}")?;
        for path in &paths {
            let cell = match rows.iter().find(|r| r.case == case && r.path == *path).map(|r| &r.outcome) {
                None => "",
                Some(Outcome::Pass) => "PASS",
                Some(Outcome::Fail(reason)) => {
                    reasons.entry(("FAIL", format!("{path}: {reason}"))).or_default().push(case);
                    "FAIL"
                }
                Some(Outcome::Skipped(reason)) => {
                    reasons.entry(("SKIPPED", format!("{path}: {reason}"))).or_default().push(case);
                    "SKIPPED"
                }
            };
            write!(f, " {cell:<22}")?;
        }
        writeln!(f)?;
    }
    for ((word, reason), cases) in reasons {
        writeln!(f, "  {word} {reason} ({})", cases.join(", "))?;
    }
    Ok(())
}
