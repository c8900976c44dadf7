//! The conformance suite by level.

use pixelferry::driver::Paths;
use pixelferry::driver::conformance::{CASES, Context, Failure, Manner, Outcome, Row, run_on};
use pixelferry::{ComputeBackend, Display};
use pixelferry_testing::{Level, level};
use std::rc::Rc;
use std::sync::Arc;

/// What they repeat in every format and size, others do once. They take two fifths of the time.
const LONG: [&str; 2] = ["images: formats, sizes, row order", "an engine's object: formats"];

/// Runs the suite on these paths; at the shortest level without what repeats every format and size.
pub fn conform_on(
    paths: &Paths,
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    manner: Manner,
) -> Vec<Row> {
    if level() > Level::Short {
        return run_on(paths, backend, display, manner);
    }
    let mut rows = Vec::new();
    for path in paths.iter().map(|spec| spec.id) {
        for case in CASES.iter().filter(|case| !LONG.contains(&case.name)) {
            let outcome = match (case.run)(&Context { backend, display, paths, path, manner }) {
                Ok(()) => Outcome::Pass,
                Err(Failure::Skipped(reason)) => Outcome::Skipped(reason),
                Err(Failure::Failed(reason)) => Outcome::Fail(reason),
            };
            let (compute, display) = (backend.device().to_string(), display.device().to_string());
            rows.push(Row { compute, display, path, case: case.name, outcome });
        }
    }
    rows
}

/// The same on every built-in path.
pub fn conform(backend: &Arc<dyn ComputeBackend>, display: &Rc<dyn Display>, manner: Manner) -> Vec<Row> {
    conform_on(&Paths::default(), backend, display, manner)
}
