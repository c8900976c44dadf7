//! The conformance suite as drivers' own suites run it. They have this file.

use interop_core::conformance::{CASES, ConformanceRow, ConformanceTable, Context, Manner, Outcome};
use interop_core::path::Paths;
use interop_core::{ComputeBackend, Display, PathId};
use pixelferry_testing::{Level, level};
use std::sync::Arc;

/// Cases that show with the least effort that a path carries frames. The workspace's own table has the other cases.
const SHORT: [&str; 7] = [
    "images as textures",
    "buffers",
    "many frames round the ring",
    "regions leave the rest",
    "a frame given up is not shown",
    "unwritten pixels are cleared",
    "resize shows the old frame",
];

/// Runs the suite on these paths, and prints it.
///
/// # Panics
/// Where a case fails.
pub fn conform(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    manner: Manner,
    paths: &[PathId],
) -> Vec<ConformanceRow> {
    let mut rows = Vec::new();
    for path in paths.iter().copied() {
        let all = level() > Level::Short;
        for case in CASES.iter().filter(|case| all || SHORT.contains(&case.name)) {
            rows.push(case.row(&Context { backend, display, paths: &Paths::default(), path, manner }));
        }
    }
    println!("{manner:?}:\n{}", ConformanceTable(&rows));
    let failed = ConformanceTable(&rows).counts().1;
    assert_eq!(failed, 0, "see the table above");
    rows
}

/// Each of these paths carried frames.
#[track_caller]
pub fn ran(rows: &[ConformanceRow], paths: &[PathId]) {
    for path in paths {
        assert!(rows.iter().any(|row| row.path == *path && row.outcome == Outcome::Pass), "{path} did not run");
    }
}
