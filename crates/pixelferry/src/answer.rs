//! The answer of a probe in five lines.

use crate::probe::{Sharing, SystemReport};
use interop_core::{DeviceIdentity, Diagnosis, PathId, PathReport, ProbeReport};

/// Times that differ by less say nothing about which path is faster.
const NOISE: f64 = 1.25;

impl SystemReport {
    /// Five lines: which device computes, which draws, the path by default, the paths that share memory, and what to do next.
    pub fn answer(&self) -> String {
        let pair = self.pairings.iter().find(|pairing| pairing.chosen().is_some());
        let [computes, draws] = match pair {
            Some(pair) => [device(&pair.compute), device(&pair.display)],
            None => ["no pair of devices has a path", "no pair of devices has a path"].map(String::from),
        };
        let lines = [
            ("computes", computes),
            ("draws", draws),
            ("path", path(self, pair)),
            ("shared", shared(self, pair)),
            ("next", next(self)),
        ];
        lines.map(|(what, words)| format!("{what:<9} {}\n", words.replace('\n', " "))).concat()
    }
}

fn device(device: &DeviceIdentity) -> String {
    let kind = if device.software { "software" } else { "hardware" };
    format!("{device} ({kind})")
}

/// The paths whose times differ from this one's by no more than the times of one path do between two runs.
fn as_fast(pair: &ProbeReport, chosen: &PathReport) -> String {
    let Some(best) = chosen.median_us() else { return String::new() };
    let is_near = |path: &&PathReport| path.id != chosen.id && path.median_us().is_some_and(|us| us <= best * NOISE);
    let names: Vec<_> = pair.paths.iter().filter(is_near).map(|path| path.id.name()).collect();
    if names.is_empty() { String::new() } else { format!(", about as fast as {}", names.join(", ")) }
}

/// The path by default, and its time.
fn path(report: &SystemReport, pair: Option<&ProbeReport>) -> String {
    match pair.and_then(ProbeReport::chosen) {
        Some(path) => {
            let time = path.median_us().map_or("not timed".into(), |us| format!("{us:.0} us a frame"));
            let others = pair.map_or_else(String::new, |pair| as_fast(pair, path));
            format!("{}, {time} ({}){others}: {}", path.id, report.surface, path.mechanism)
        }
        None => {
            // What every pair can do, and these cannot.
            let paths = report.pairings.iter().flat_map(|pairing| &pairing.paths);
            let last = paths.filter(|path| path.id == PathId::HOST_ROUND_TRIP).find(|path| !path.state.works());
            let why = last.map(|path| path.state.detail()).or_else(|| report.problems.first().cloned());
            format!("none works for {}: {}", report.surface, why.unwrap_or_else(|| "no two devices open".into()))
        }
    }
}

/// The paths that share memory of a device: between the pair by default, else between the first that has one.
fn shared(report: &SystemReport, pair: Option<&ProbeReport>) -> String {
    let of = |pairing: &ProbeReport| pairing.shared().map(|path| path.id.name()).collect::<Vec<_>>().join(", ");
    match (pair.map(of).filter(|names| !names.is_empty()), report.pairings.iter().find(|p| p.shared().next().is_some()))
    {
        (Some(names), _) => names,
        (None, Some(other)) => format!("not here; {} -> {}: {}", other.compute, other.display, of(other)),
        (None, None) if pair.is_some_and(|pair| pair.compute.software && pair.display.software) => {
            "nothing to share: both devices are programs, and have the host's memory".into()
        }
        (None, None) if pair.is_some() => "none; frames pass through the host".into(),
        (None, None) => "none".into(),
    }
}

/// The remedy of the first cause that has one.
fn next(report: &SystemReport) -> String {
    let remedy = |cause: &Diagnosis| Some(format!("{}: {} (pixelferry doctor)", cause.advice, cause.command.as_ref()?));
    match (report.sharing, report.diagnoses.iter().find_map(remedy)) {
        (Sharing::Nothing, _) => "pixelferry probe --all tells why each path does not work".into(),
        (_, Some(remedy)) => remedy,
        (_, None) => "pixelferry demo shows a picture; pixelferry probe --all tells of every path".into(),
    }
}
