//! Runs the whole benchmark on a tiny grid that every machine has: CPU threads into plain memory. Checks structure, not
//! times.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may panic

use crate::bench::grid::Mode;
use crate::bench::record::{Record, RowKind};
use crate::bench::{BenchOptions, execute, run};
use clap::{Args as _, FromArgMatches as _};
use pixelferry::PathId;
use serde_json::Value;
use std::path::PathBuf;

fn options(arguments: &str) -> BenchOptions {
    let command = BenchOptions::augment_args(clap::Command::new("bench"));
    let matches = command.get_matches_from(["bench"].into_iter().chain(arguments.split_whitespace()));
    BenchOptions::from_arg_matches(&matches).unwrap()
}

fn bench(arguments: &str) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    execute(&options(arguments), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("pixelferry-bench-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

const TINY: &str = "--backends cpu --displays memory --sizes tiny --frames 12 --budget 60";

#[test]
fn a_tiny_run_gives_tables_and_data() {
    let file = folder("tiny").join("tiny.json");
    let formats = "RGBA8,RGBA16F,RGBA32F,R32F";
    let said = bench(&format!("{TINY} --formats {formats} --json {}", file.display())).unwrap();
    let data: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((&data["schema"], data["compute"].as_array().unwrap().len()), (&"pixelferry-bench".into(), 1));
    let cells = data["cells"].as_array().unwrap();
    assert_eq!(cells.len(), formats.split(',').count() * Mode::ALL.len(), "{:?}", data["left_out"]);
    for row in cells.iter().flat_map(|cell| cell["rows"].as_array().unwrap()) {
        let name = row["row"].as_str().unwrap();
        assert!(said.contains(name) && row["stats"]["n"].as_u64() > Some(0), "{name}");
    }
    assert!(said.contains("automatic within 3 % of the best in"), "{said}");
}

#[test]
fn every_cell_has_floors_paths_and_a_verdict() {
    let record: Record = run(&options(TINY).plan()).unwrap();
    assert_eq!((record.cells.len(), record.left_out.as_slice()), (Mode::ALL.len(), [].as_slice()));
    assert!(record.seconds > 0.0);
    assert_eq!((record.compute.len(), record.displays.len()), (1, 1));
    record.cells.iter().for_each(check_rows);
    assert_eq!(record.summary.cells, record.cells.len());
}

fn check_rows(cell: &crate::bench::record::Cell) {
    let key = cell.key();
    let of = |kind| cell.rows.iter().filter(move |row| row.info.kind == kind);
    assert_eq!(of(RowKind::Floor).count(), 5, "{key}");
    assert_eq!(of(RowKind::Automatic).count(), 1, "{key}");
    assert!(cell.row("host-round-trip").is_some(), "{key}");
    // Every path is either measured or skipped with a reason.
    for path in PathId::ALL {
        let measured = of(RowKind::Path).any(|row| row.info.path.as_deref() == Some(path.name()));
        let skipped = cell.skipped.iter().find(|s| s.what == path.name());
        assert!(measured != skipped.is_some(), "{key}: {path}");
        assert!(skipped.is_none_or(|s| s.reason.len() > 10), "{key}: {path}");
    }
    for row in &cell.rows {
        let samples: Vec<f64> = row.rounds_us.iter().flatten().copied().collect();
        assert!(row.rounds_us.len() >= 3 && row.rounds_us.iter().all(|r| !r.is_empty()), "{key}: {}", row.info.row);
        assert_eq!(row.stats.n, samples.len());
        assert!(samples.iter().all(|us| us.is_finite() && *us >= 0.0));
        assert!(row.stats.q1_us <= row.stats.median_us && row.stats.median_us <= row.stats.p99_us);
        assert_eq!(row.info.path.is_some(), row.info.kind != RowKind::Floor);
    }
    let verdict = cell.verdict.as_ref().unwrap();
    assert_eq!(cell.row(&verdict.best).unwrap().info.kind, RowKind::Path);
    assert_eq!(cell.frames_per_sample == 1, cell.mode == Mode::Latency, "{key}");
}

#[test]
fn mistakes_are_found_before_anything_is_measured() {
    for (arguments, says) in [
        (format!("{TINY} --backends nowhere"), "no compute backend matches 'nowhere'"),
        ("--displays nowhere".to_owned(), "plain memory"),
        (format!("{TINY} --json /dev/null/none/x.json"), "cannot write /dev/null/none/x.json"),
    ] {
        let error = bench(&arguments).unwrap_err().to_string();
        assert!(error.contains(says), "{arguments}: {error}");
    }
}

#[test]
fn a_size_that_cannot_be_is_left_out_with_its_reason() {
    let huge = "--quick --backends cpu --displays memory --sizes 4294967295x4294967295,tiny --frames 3";
    let record = run(&options(huge).plan()).unwrap();
    assert_eq!((record.cells.len(), record.left_out.len()), (1, 1));
    assert!(record.left_out[0].what.contains("4294967295x4294967295 RGBA8 latency"));
    assert!(record.left_out[0].reason.len() > 10);
}
