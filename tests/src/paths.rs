//! Paths that are offered, and where, according to the rows of `pixelferry_testing::KNOWN`.

use pixelferry::driver::conformance::{ConformanceRow, Outcome};
use pixelferry::driver::select::probe;
use pixelferry::{ComputeBackend, Display, PathId, Policy, SurfaceDesc, report::PathState};
use pixelferry_testing::{Need, Outcome as Comes, asked, has, judge};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

fn described(backend: &dyn ComputeBackend) -> String {
    format!("{} ({})", backend.device(), backend.device().driver)
}

/// True of a reason that is about what was asked for, such as a texture or a semaphore, and not about a driver.
fn is_asked(reason: &str) -> bool {
    reason.starts_with("surface: ") || reason.starts_with("policy: ")
}

/// True of a lack of NVIDIA's OpenGL, on a machine that has it. Rows are of backends, and this is a display's.
fn is_nvidias(reason: &str) -> bool {
    asked(Need::Nvidia) && reason.contains("GL_AMD_pinned_memory")
}

/// Returns what opens by a path, or `None` after saying SKIPPED and why, or that the path is for other surfaces.
///
/// # Panics
/// Where a row says otherwise of the backend's driver.
#[track_caller]
pub fn has_path<T>(backend: &dyn ComputeBackend, path: PathId, found: Result<T, impl fmt::Display>) -> Option<T> {
    match found.map_err(|reason| reason.to_string()) {
        Err(reason) if is_asked(&reason) => {
            println!("{path} is for other surfaces: {reason}");
            None
        }
        Err(reason) if is_nvidias(&reason) => {
            println!("{path} is no lack of the backend: {reason}");
            None
        }
        found => has(path.name(), described(backend), found),
    }
}

/// The paths between the two that are offered for `desc`; of the others is said why not.
///
/// # Panics
/// As [`has_path`] does, and where nothing works.
#[track_caller]
pub fn offered(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>, desc: &SurfaceDesc) -> Vec<PathId> {
    let report = probe(backend, display, desc, &Policy::default().with_budget(Duration::ZERO));
    let rows = report.unwrap_or_else(|error| panic!("{error}")).paths.into_iter();
    let found = |state: &PathState| match state {
        PathState::NotOffered { reason } => Err(reason.clone()),
        _ => Ok(()),
    };
    rows.filter(|row| has_path(backend.as_ref(), row.id, found(&row.state)).is_some()).map(|row| row.id).collect()
}

/// Returns what is wrong with the outcomes of a path on a display: a case that failed, or a path that was run or skipped where the rows
/// say otherwise of the backend's driver. A case that is none of the path's (a texture that is asked for, a path of
/// buffers) says nothing.
pub fn path_problems(backend: &dyn ComputeBackend, rows: &[ConformanceRow]) -> Vec<String> {
    let displays: BTreeSet<&str> = rows.iter().map(|row| row.display.as_str()).collect();
    let pairs = displays.iter().flat_map(|display| PathId::ALL.map(|path| (*display, path)));
    pairs
        .filter_map(|(display, path)| {
            let of_pair = rows.iter().filter(|row| row.display == display && row.path == path);
            let comes = outcome(of_pair.map(|row| &row.outcome))?;
            if matches!(&comes, Comes::Lacks(reason) if is_nvidias(reason)) {
                return None;
            }
            let problem = judge(path.name(), &described(backend), &comes).err()?;
            Some(format!("{path} to {display}: {problem}"))
        })
        .collect()
}

/// Returns what all cases of a path come to.
fn outcome<'a>(cases: impl Iterator<Item = &'a Outcome>) -> Option<Comes> {
    let (mut passed, mut skipped) = (false, None);
    for case in cases {
        match case {
            Outcome::Pass => passed = true,
            Outcome::Fail(reason) => return Some(Comes::Fails(reason.clone())),
            Outcome::Skipped(reason) if is_asked(reason) => {}
            Outcome::Skipped(reason) => skipped = Some(reason.clone()),
        }
    }
    match (passed, skipped) {
        (true, Some(reason)) => Some(Comes::Fails(format!("some cases passed and others were skipped: {reason}"))),
        (true, None) => Some(Comes::Pass),
        (false, skipped) => skipped.map(Comes::Lacks),
    }
}
