//! The short answer of a probe: five lines of text.

use crate::availability::Availability;
use crate::probe::{SharingLevel, SystemReport};
use interop_core::{Api, Diagnosis, PathId, PathReport, ProbeReport};
use std::cmp::Ordering;

/// Kinds of work, with the APIs of the backends that do it.
const WORKS: [(&str, &[Api]); 4] = [
    ("WGSL kernels", &[Api::OpenGl, Api::Wgpu, Api::Vulkan]),
    ("C kernels", &[Api::Cuda, Api::OpenCl]),
    ("host arrays", &[Api::Cpu]),
    ("GPU tensors", &[Api::Cuda]),
];

impl SystemReport {
    /// Returns five lines: the fastest pair for each kind of work, with its path and the time of a frame, and a next
    /// step.
    pub fn answer(&self) -> String {
        let next = ("next", next(self));
        let lines = WORKS.map(|(work, apis)| (work, best(self, apis))).into_iter().chain([next]);
        lines.map(|(what, words)| format!("{what:<13} {}\n", words.replace('\n', " "))).collect()
    }
}

/// Describes the fastest pair of a backend of these APIs with any display. Plain memory shows nothing, so it comes
/// last.
fn best(report: &SystemReport, apis: &[Api]) -> String {
    let of_work = || report.pairings.iter().filter(|pairing| apis.contains(&pairing.compute.api));
    let found = of_work().filter_map(|pairing| Some((pairing, pairing.chosen()?)));
    let rank = |(pairing, path): &(&ProbeReport, &PathReport)| {
        (pairing.display.api == Api::Cpu, path.median_us().unwrap_or(f64::INFINITY))
    };
    match found.min_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal)) {
        Some((pairing, path)) => told(report, pairing, path),
        None => {
            let paths = of_work().flat_map(|pairing| &pairing.paths);
            let refused = paths.filter(|path| path.id == PathId::HOST_ROUND_TRIP).find(|path| !path.state.works());
            let absent = report.backends.iter().filter(|status| apis.contains(&status.api)).find_map(|status| {
                let Availability::Unavailable { reason, .. } = &status.availability else { return None };
                Some(format!("{}: {reason}", status.api))
            });
            let why = refused.map(|path| path.state.detail()).or(absent).or_else(|| report.problems.first().cloned());
            format!("no path works ({}): {}", report.surface, why.unwrap_or_else(|| "no device supports them".into()))
        }
    }
}

fn told(report: &SystemReport, ProbeReport { compute, display, .. }: &ProbeReport, path: &PathReport) -> String {
    let time = path.median_us().map_or("not timed".into(), |us| format!("{us:.0} us per frame ({})", report.surface));
    let kind = match (compute.software, display.software) {
        (true, true) => ", all on the CPU",
        (false, true) => ", drawn by the CPU",
        _ => "",
    };
    format!("{compute} -> {display} with {}, {time}{kind}", path.id)
}

/// Returns the advice of the first cause that has a command, or another next step.
fn next(report: &SystemReport) -> String {
    let remedy = |cause: &Diagnosis| {
        Some(format!("{}: {}. `pixelferry doctor` tells you more", cause.advice, cause.command.as_ref()?))
    };
    match (report.sharing, report.diagnoses.iter().find_map(remedy)) {
        (SharingLevel::Nothing, _) => "pixelferry probe --all shows why each path does not work".into(),
        (_, Some(remedy)) => remedy,
        (_, None) => "pixelferry demo shows a picture; pixelferry probe --all shows every path".into(),
    }
}
