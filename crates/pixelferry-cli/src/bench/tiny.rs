//! The whole benchmark on a tiny grid that every machine has: threads into plain memory. Structure is checked, no times.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use crate::bench::compare::{Comparison, read};
use crate::bench::grid::{Mode, Plan};
use crate::bench::record::{Record, RowKind};
use crate::bench::{BenchOptions, execute, run};
use clap::{Args as _, FromArgMatches as _};
use pixelferry::driver::path::{HostRoundTrip, Pairing};
use pixelferry::driver::{PathSpec, Paths, SharingPath};
use pixelferry::{PathId, Support, Unwritten};
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
    let folder = folder("tiny");
    let json = folder.join("tiny.json").display().to_string();
    let formats = "RGBA8,RGBA16F,RGBA32F,R32F";
    let said = bench(&format!("{TINY} --formats {formats} --json {json}")).unwrap();

    let record = read(json.as_ref()).unwrap();
    assert_eq!(record.cells.len(), formats.split(',').count() * Mode::ALL.len(), "{:?}", record.left_out);
    assert!(record.left_out.is_empty() && record.seconds > 0.0);
    assert_eq!((record.compute.len(), record.displays.len()), (1, 1));
    for cell in &record.cells {
        check_rows(cell);
    }
    assert_eq!(record.summary.cells, record.cells.len());

    let again: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    assert_eq!(again, record, "the JSON says everything");
    for row in record.cells.iter().flat_map(|c| &c.rows) {
        assert!(said.contains(&row.info.row), "{}", row.info.row);
    }
    assert!(said.contains("automatic within 3 % of the best in"), "{said}");

    let compared = bench(&format!("--compare {json} {json}")).unwrap();
    assert!(compared.contains("Floors") && compared.contains("0 slower and 0 quicker"), "{compared}");
    assert!(Comparison::of(&record, &again).pairs.len() > record.cells.len());
}

fn check_rows(cell: &crate::bench::record::Cell) {
    let key = cell.key();
    let of = |kind| cell.rows.iter().filter(move |row| row.info.kind == kind);
    assert_eq!(of(RowKind::Floor).count(), 5, "{key}");
    assert_eq!(of(RowKind::Automatic).count(), 1, "{key}");
    assert!(cell.row("host-round-trip").is_some(), "{key}");
    // Every path is measured, or there is a reason why not.
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
fn a_path_of_the_programs_own_is_measured_beside_the_others() {
    let open = |pairing: &Pairing<'_>| Ok(Box::new(HostRoundTrip::open(pairing)?) as Box<dyn SharingPath>);
    let known = Paths::default().with(PathSpec::new("own-way", |_| Support::Yes, open)).unwrap();
    let paths = Some(vec![known.named("own-way").unwrap(), PathId::HOST_ROUND_TRIP]);
    let plan = Plan { known, paths, modes: vec![Mode::Latency], ..options(TINY).plan() };
    let record = run(&plan).unwrap();
    let measured = record.cells[0].rows.iter().filter(|row| row.info.kind == RowKind::Path);
    let names: Vec<_> = measured.map(|row| (row.info.row.as_str(), row.stats.n > 0)).collect();
    assert_eq!(names, [("host-round-trip", true), ("own-way", true)]);
    let automatic = record.cells[0].rows.iter().find(|row| row.info.kind == RowKind::Automatic).unwrap();
    assert!(automatic.info.why.is_some());
}

#[test]
fn only_the_paths_asked_for_are_measured() {
    let file = folder("paths").join("paths.json");
    bench(&format!("{TINY} --modes latency --paths pbo-orphan,host-round-trip --json {}", file.display())).unwrap();
    let record = read(&file).unwrap();
    let paths: Vec<_> = record.cells[0].rows.iter().filter(|r| r.info.kind == RowKind::Path).collect();
    let names: Vec<_> = paths.iter().map(|row| row.info.row.as_str()).collect();
    assert_eq!(names, ["pbo-orphan", "host-round-trip"]);
}

#[test]
fn rules_for_unwritten_pixels_are_cells_of_their_own() {
    let file = folder("rules").join("rules.json");
    let rules = "--unwritten keep,clear,overwrite --modes latency --paths pinned-upload,host-round-trip";
    let said = bench(&format!("{TINY} {rules} --json {}", file.display())).unwrap();
    let record = read(&file).unwrap();
    let cells: Vec<_> = record.cells.iter().map(|cell| (cell.unwritten, cell.picture())).collect();
    let expected = [
        (Unwritten::Keep, "tiny RGBA8 keep"),
        (Unwritten::Clear, "tiny RGBA8 clear"),
        (Unwritten::Overwrite, "tiny RGBA8"),
    ];
    assert_eq!(cells, expected.map(|(rule, name)| (rule, name.to_owned())));
    for name in ["tiny RGBA8 keep", "tiny RGBA8 clear", "unwritten pixels: overwrite"] {
        assert!(said.contains(name), "{name}: {said}");
    }
    // As version 1 wrote it, which knew no rules.
    let text = std::fs::read_to_string(&file).unwrap().replace("\"schema_version\": 3", "\"schema_version\": 1");
    let old = folder("rules").join("old.json");
    std::fs::write(&old, text.replace("\"unwritten\"", "\"nothing of the kind\"")).unwrap();
    assert!(read(&old).unwrap().cells.iter().all(|cell| cell.unwritten == Unwritten::Overwrite));
}

#[test]
fn a_list_says_what_would_be_measured() {
    let said = bench(&format!("{TINY} --list")).unwrap();
    for part in ["plain memory", "64x64 of 16384 bytes", "host-round-trip", "cells: 2; for each row frames: 12"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn mistakes_are_found_before_anything_is_measured() {
    let folder = folder("mistakes");
    let other = folder.join("other.json");
    std::fs::write(&other, "{\"schema\": \"something else\"}").unwrap();
    let damaged = folder.join("damaged.json");
    std::fs::write(&damaged, "{\"schema\":").unwrap();
    let later = folder.join("later.json");
    std::fs::write(&later, "{\"schema\": \"pixelferry-bench\", \"schema_version\": 99}").unwrap();
    let compare = |file: &PathBuf| format!("--compare {f} {f}", f = file.display());
    for (arguments, says) in [
        (format!("{TINY} --backends nowhere"), "no compute backend matches 'nowhere'"),
        ("--displays nowhere".to_owned(), "plain memory"),
        (format!("{TINY} --json /dev/null/none/x.json"), "cannot write /dev/null/none/x.json"),
        (compare(&folder.join("none.json")), "cannot read"),
        (compare(&other), "\"schema\" is not"),
        (compare(&damaged), "no result of"),
        (compare(&later), "its version is 99"),
    ] {
        let error = bench(&arguments).unwrap_err().to_string();
        assert!(error.contains(says), "{arguments}: {error}");
    }
}

#[test]
fn a_size_that_cannot_be_is_left_out_with_its_reason() {
    let file = folder("large").join("large.json");
    let huge = "--backends cpu --displays memory --sizes 4294967295x4294967295,tiny --frames 3 --modes latency";
    bench(&format!("{huge} --json {}", file.display())).unwrap();
    let record = read(&file).unwrap();
    assert_eq!((record.cells.len(), record.left_out.len()), (1, 1));
    assert!(record.left_out[0].what.contains("4294967295x4294967295 RGBA8 latency"));
    assert!(record.left_out[0].reason.len() > 10);
}
