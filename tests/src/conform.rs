//! The conformance suite by level.

use pixelferry::driver::Paths;
use pixelferry::driver::conformance::{CASES, ConformanceRow, Context, Manner, Outcome, run_on};
use pixelferry::{ComputeBackend, Display};
use pixelferry_testing::{Level, level};
use std::sync::Arc;

/// Cases that repeat in every format and size what others do once. They take two fifths of the time.
const LONG: [&str; 2] = ["images: formats, sizes, row order", "an engine's object: formats"];

/// Those that take most of the rest.
const COSTLY: [&str; 9] = [
    "regions leave the rest",
    "images as textures",
    "sizes inside a larger one",
    "unwritten pixels are kept",
    "unwritten pixels are cleared",
    "unwritten pixels are the caller's",
    "an engine's object: kept",
    "an engine's object: cleared",
    "an engine's object: overwritten",
];

/// Number of a pair's paths that share the costly cases: as many as go between any two.
const HANDS: usize = 3;

/// Runs the suite on these paths. At the shortest level it is without what repeats every format and size, and the paths of a pair
/// share the costly cases between them: each is run, by one path in three. `faults::conform` runs each by every path.
pub fn conform_on(
    paths: &Paths,
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    manner: Manner,
) -> Vec<ConformanceRow> {
    if level() > Level::Short {
        return run_on(paths, backend, display, manner);
    }
    let (mut rows, mut hand) = (Vec::new(), 0);
    for path in paths.iter().map(|spec| spec.id) {
        let mut run = |name: &dyn Fn(&str) -> bool| {
            let first = rows.len();
            for case in CASES.iter().filter(|case| name(case.name)) {
                rows.push(case.row(&Context { backend, display, paths, path, manner }));
            }
            rows[first..].iter().any(|row| row.outcome == Outcome::Pass)
        };
        if run(&|name| !LONG.contains(&name) && !COSTLY.contains(&name)) {
            run(&|name| COSTLY.iter().position(|costly| *costly == name).is_some_and(|at| at % HANDS == hand % HANDS));
            hand += 1;
        }
    }
    rows
}

/// The same on every built-in path.
pub fn conform(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>, manner: Manner) -> Vec<ConformanceRow> {
    conform_on(&Paths::default(), backend, display, manner)
}
