//! Two results side by side.

use crate::bench::error::Error;
use crate::bench::record::{Record, Row, RowKind, SCHEMA, SCHEMA_VERSION};
use crate::bench::stats::Stats;
use pixelferry::driver::select::quantile;
use std::fs;
use std::path::Path;

/// A row that both results have.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The cell's name.
    pub cell: String,
    /// The row's name.
    pub row: String,
    /// Kind of the row.
    pub kind: RowKind,
    /// Figures of the first.
    pub a: Stats,
    /// Figures of the second.
    pub b: Stats,
    /// Median of the second over that of the first.
    pub ratio: f64,
}

impl Pair {
    /// True where the middle halves of the samples do not touch, with the second machine `drift` times as slow by itself: more
    /// than noise.
    pub fn is_clear(&self, drift: f64) -> bool {
        self.a.q3_us < self.b.q1_us / drift || self.b.q3_us / drift < self.a.q1_us
    }
}

/// Result of comparing two records, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Differences between the two results' machines and settings.
    pub differences: Vec<String>,
    /// Floors first, then the others; each in the order of the first result.
    pub pairs: Vec<Pair>,
    /// Rows that only the first has.
    pub only_a: Vec<String>,
    /// Rows that only the second has.
    pub only_b: Vec<String>,
}

impl Comparison {
    /// Compares two results.
    pub fn of(a: &Record, b: &Record) -> Self {
        let of_b = keyed(b);
        let of_a = keyed(a);
        let find = |list: &[(String, &Row)], key: &str, row: &str| -> Option<Row> {
            list.iter().find(|(k, r)| k == key && r.info.row == row).map(|(_, r)| (*r).clone())
        };
        let mut pairs: Vec<Pair> = Vec::new();
        let mut only_a = Vec::new();
        for (key, row) in &of_a {
            match find(&of_b, key, &row.info.row) {
                Some(other) => pairs.push(pair(key, row, &other)),
                None => only_a.push(format!("{key}: {}", row.info.row)),
            }
        }
        let missing = of_b.iter().filter(|(key, row)| find(&of_a, key, &row.info.row).is_none());
        let only_b = missing.map(|(key, row)| format!("{key}: {}", row.info.row)).collect();
        // Stable: the order stays within each.
        pairs.sort_by_key(|pair| pair.kind != RowKind::Floor);
        Self { differences: differences(a, b), pairs, only_a, only_b }
    }

    /// Median ratio of the floors, by their name: how much slower the second machine was by itself.
    pub fn drift(&self) -> Vec<(String, f64)> {
        let mut names: Vec<&str> = Vec::new();
        for pair in self.pairs.iter().filter(|p| p.kind == RowKind::Floor) {
            if !names.contains(&pair.row.as_str()) {
                names.push(&pair.row);
            }
        }
        let ratios = |name: &str| -> Vec<f64> {
            self.pairs.iter().filter(|p| p.kind == RowKind::Floor && p.row == name).map(|p| p.ratio).collect()
        };
        names.into_iter().map(|name| (name.to_owned(), quantile(&ratios(name), 0.5))).collect()
    }

    /// Median ratio of all floors of one cell; 1 where it has none.
    pub fn drift_of(&self, cell: &str) -> f64 {
        let floors = self.pairs.iter().filter(|p| p.kind == RowKind::Floor && p.cell == cell);
        let ratios: Vec<f64> = floors.map(|p| p.ratio).collect();
        if ratios.is_empty() { 1.0 } else { quantile(&ratios, 0.5) }
    }
}

fn keyed(record: &Record) -> Vec<(String, &Row)> {
    record.cells.iter().flat_map(|cell| cell.rows.iter().map(move |row| (cell.key(), row))).collect()
}

fn pair(key: &str, a: &Row, b: &Row) -> Pair {
    let (x, y) = (a.stats, b.stats);
    let ratio = if x.median_us > 0.0 { y.median_us / x.median_us } else { 1.0 };
    Pair { cell: key.into(), row: a.info.row.clone(), kind: a.info.kind, a: x, b: y, ratio }
}

fn differences(a: &Record, b: &Record) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, x: String, y: String| {
        if x != y {
            found.push(format!("{what}: {x} | {y}"));
        }
    };
    let drivers = |record: &Record| {
        let all = record.compute.iter().chain(&record.displays);
        all.map(|d| format!("{} ({})", d.label, d.driver)).collect::<Vec<_>>().join("; ")
    };
    differ("pixelferry", a.pixelferry.clone(), b.pixelferry.clone());
    differ("processor", format!("{:?}", a.machine.cpu), format!("{:?}", b.machine.cpu));
    differ("threads", a.machine.threads.to_string(), b.machine.threads.to_string());
    differ("devices", drivers(a), drivers(b));
    differ("load at the start", format!("{:?}", a.machine.load), format!("{:?}", b.machine.load));
    found
}

/// Reads a result of `--json`.
///
/// # Errors
/// [`Error::File`]; [`Error::NotARecord`] for a file that is something else or of a later version.
pub fn read(path: &Path) -> Result<Record, Error> {
    const VERSION: u64 = SCHEMA_VERSION as u64;
    let text = fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let wrong = |problem: String| Error::NotARecord { path: path.to_owned(), problem };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    if value.get("schema").and_then(|s| s.as_str()) != Some(SCHEMA) {
        return Err(wrong(format!("its \"schema\" is not \"{SCHEMA}\"")));
    }
    match value.get("schema_version").and_then(serde_json::Value::as_u64) {
        Some(1..=VERSION) => {}
        other => {
            let other = other.map_or_else(|| "none".into(), |v| v.to_string());
            return Err(wrong(format!("its version is {other}, this program reads 1 to {SCHEMA_VERSION}")));
        }
    }
    serde_json::from_value(value).map_err(|e| wrong(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    fn scaled(kind: RowKind, factor: f64) -> Record {
        let mut record = sample::record();
        for row in record.cells.iter_mut().flat_map(|cell| &mut cell.rows).filter(|row| row.info.kind == kind) {
            let s = &mut row.stats;
            [&mut s.median_us, &mut s.q1_us, &mut s.q3_us].into_iter().for_each(|us| *us *= factor);
        }
        record
    }

    #[test]
    fn a_result_equals_itself() {
        let comparison = Comparison::of(&sample::record(), &sample::record());
        assert!(comparison.pairs.iter().all(|p| p.ratio == 1.0 && !p.is_clear(1.0)));
        assert!(comparison.only_a.is_empty() && comparison.only_b.is_empty() && comparison.differences.is_empty());
    }

    #[test]
    fn only_differences_beyond_the_spread_are_marked_and_floors_come_first() {
        let (a, b) = (sample::record(), scaled(RowKind::Path, 1.2));
        let comparison = Comparison::of(&a, &b);
        let of = |kind| comparison.pairs.iter().filter(move |p| p.kind == kind);
        assert!(of(RowKind::Path).all(|p| p.is_clear(1.0) && (p.ratio - 1.2).abs() < 1e-9));
        assert!(of(RowKind::Floor).all(|p| !p.is_clear(1.0)));
        let floors = of(RowKind::Floor).count();
        assert!(comparison.pairs.iter().take(floors).all(|p| p.kind == RowKind::Floor));
        let within = Comparison::of(&a, &scaled(RowKind::Path, 1.001));
        assert!(within.pairs.iter().all(|p| !p.is_clear(1.0)), "a thousandth is within the spread");
    }

    #[test]
    fn a_slower_machine_shows_in_the_floors() {
        let comparison = Comparison::of(&sample::record(), &scaled(RowKind::Floor, 1.5));
        assert!(!comparison.drift().is_empty());
        assert!(comparison.drift().iter().all(|(_, ratio)| (ratio - 1.5).abs() < 1e-9));
        assert!((comparison.drift_of(&sample::record().cells[0].key()) - 1.5).abs() < 1e-9);
        assert_eq!(comparison.drift_of("no such cell"), 1.0);
        // Paths that did not slow down with the machine have become quicker; floors did nothing of their own.
        let with_drift = |p: &Pair| p.is_clear(comparison.drift_of(&p.cell));
        assert!(comparison.pairs.iter().all(|p| with_drift(p) == (p.kind != RowKind::Floor)));
    }

    #[test]
    fn rows_of_one_side_are_named() {
        let (a, mut b) = (sample::record(), sample::record());
        b.cells[0].rows.retain(|row| row.info.row != "direct");
        b.machine.threads = 64;
        let comparison = Comparison::of(&a, &b);
        assert_eq!(comparison.only_a.len(), 1);
        assert!(comparison.only_a[0].ends_with(": direct"));
        assert!(comparison.differences.iter().any(|d| d.contains("64")));
        assert_eq!(Comparison::of(&b, &a).only_b, comparison.only_a);
    }
}
