//! Plugged-in parts pass the suite that the built-in ones pass.

use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::conformance::{ConformanceRow, ConformanceTable, Manner, Outcome};
use interop_core::{ComputeBackend, Display, Paths};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_tests::plugged::{Board, Worker, changed_rows, lent_bytes, own_pages, page_flip};
use pixelferry_tests::{Need, conform_on, few, need};
use std::sync::Arc;
use std::time::Duration;

fn paths() -> Paths {
    [changed_rows(), page_flip(), own_pages(), lent_bytes()]
        .into_iter()
        .fold(Paths::default(), |paths, own| paths.with(own).unwrap())
}

/// Runs at once and late, and returns the names of the paths on which cases passed; a case that fails ends the test.
fn passed(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) -> Vec<&'static str> {
    let paths = paths();
    let mut rows: Vec<ConformanceRow> = Vec::new();
    for manner in few(&[Manner::default(), Manner::late(2)], 1) {
        rows.extend(conform_on(&paths, backend, display, *manner));
    }
    println!("{}", ConformanceTable(&rows));
    assert_eq!(ConformanceTable(&rows).counts().1, 0, "see the table");
    let passes = |id| rows.iter().any(|row| row.path == id && row.outcome == Outcome::Pass);
    // A case may be for surfaces that a path does not carry; the pair of devices is the same for all.
    let of_the_pair = |outcome: &Outcome| matches!(outcome, Outcome::Skipped(why) if !why.starts_with("surface: "));
    let skips = |id| rows.iter().any(|row| row.path == id && of_the_pair(&row.outcome));
    let ids = paths.iter().map(|spec| spec.id);
    let all: Vec<_> = ids.filter(|id| passes(*id)).collect();
    assert!(!all.iter().any(|id| skips(*id)), "cases of a path that works were skipped, see the table");
    all.into_iter().map(|id| id.name()).collect()
}

fn worker() -> Arc<dyn ComputeBackend> {
    Arc::new(Worker::new().unwrap())
}

fn threads() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

fn board() -> Arc<dyn Display> {
    Board::new(Duration::ZERO)
}

fn opengl() -> Option<Arc<dyn Display>> {
    need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())).map(|display| display as Arc<dyn Display>)
}

/// Paths that need no memory that both sides address.
const STAGED: [&str; 3] = ["pbo-persistent", "pbo-orphan", "host-round-trip"];

fn staged_and<const N: usize>(more: [&'static str; N]) -> Vec<&'static str> {
    STAGED.into_iter().chain(more).collect()
}

#[test]
fn a_backend_from_outside_passes_on_plain_memory() {
    let display: Arc<dyn Display> = MemoryDisplay::new();
    assert_eq!(passed(&worker(), &display), staged_and(["changed-rows"]));
}

#[test]
fn a_backend_from_outside_passes_on_opengl() {
    let Some(display) = opengl() else { return };
    assert_eq!(passed(&worker(), &display), staged_and(["changed-rows"]));
}

#[test]
fn a_backend_and_a_display_from_outside_pass_together() {
    assert_eq!(passed(&worker(), &board()), staged_and(["changed-rows", "page-flip", "lent-bytes"]));
}

#[test]
fn a_display_from_outside_passes_with_threads() {
    assert_eq!(passed(&threads(), &board()), staged_and(["changed-rows", "page-flip"]));
}

#[test]
fn a_path_from_outside_passes_with_threads_on_plain_memory() {
    let display: Arc<dyn Display> = MemoryDisplay::new();
    let passed = passed(&threads(), &display);
    assert!(
        passed.contains(&"changed-rows") && passed.contains(&"own-pages") && passed.contains(&"pinned-in-place"),
        "{passed:?}"
    );
}

#[test]
fn a_path_from_outside_passes_with_threads_on_opengl() {
    let Some(display) = opengl() else { return };
    let passed = passed(&threads(), &display);
    assert!(passed.contains(&"changed-rows") && passed.contains(&"host-round-trip"), "{passed:?}");
    // Both take pages of the host's, or neither path is offered.
    assert_eq!(passed.contains(&"own-pages"), passed.contains(&"pinned-upload"), "{passed:?}");
}
