//! Report about every path, for people and programs.

use crate::describe::audit_report::AuditReport;
use crate::describe::surface::SurfaceDesc;
use crate::describe::words::counted;
use crate::devices::capability::SyncKind;
use crate::devices::identity::DeviceIdentity;
use crate::path::{PathId, PathKind};
use crate::tournament::{Ratio, quantiles};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// State of a path in a report.
///
/// ```
/// use interop_core::{PathState, SyncKind};
///
/// let rejected = PathState::Rejected { reason: "pixel (3, 1) is wrong".into() };
/// assert_eq!((rejected.word(), rejected.works()), ("rejected", false));
/// assert!(PathState::Verified { sync: SyncKind::Implicit }.works());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PathState {
    /// One side does not support it; it was not tried.
    NotOffered {
        /// The side that does not support it, and the reason.
        reason: String,
    },
    /// Both sides support it. It was not tried because a path that ranks higher works.
    Offered,
    /// Opening it failed.
    OpenFailed {
        /// The error.
        reason: String,
    },
    /// It ran, but the pixels were wrong or the display reported an error.
    Rejected {
        /// The first difference, or the error.
        reason: String,
    },
    /// It was timed and is slower than the current one; its pixels were not compared.
    Slower,
    /// Its pixels were compared and are correct.
    Verified {
        /// Synchronisation of the two sides.
        sync: SyncKind,
    },
    /// It worked at first, then failed while frames were shown, and was replaced.
    Demoted {
        /// The error.
        reason: String,
    },
    /// It is verified and in use.
    Chosen {
        /// Synchronisation of the two sides.
        sync: SyncKind,
        /// Reason for the choice.
        why: String,
    },
}

impl PathState {
    /// True where its pixels were verified.
    pub const fn works(&self) -> bool {
        matches!(self, Self::Verified { .. } | Self::Chosen { .. })
    }

    /// Returns one word for tables.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NotOffered { .. } => "unavailable",
            Self::Offered => "offered",
            Self::OpenFailed { .. } => "failed to open",
            Self::Rejected { .. } => "rejected",
            Self::Slower => "slower",
            Self::Verified { .. } => "verified",
            Self::Demoted { .. } => "demoted",
            Self::Chosen { .. } => "CHOSEN",
        }
    }

    /// Returns the reason or other detail; empty where there is none.
    pub fn detail(&self) -> String {
        match self {
            Self::NotOffered { reason }
            | Self::OpenFailed { reason }
            | Self::Rejected { reason }
            | Self::Demoted { reason } => reason.clone(),
            Self::Offered => "not tried: another path works, and there was no time to compare".into(),
            Self::Slower => "timed only: another path is faster, so its pixels were not compared".into(),
            Self::Verified { sync } => format!("sync: {sync}"),
            Self::Chosen { sync, why } => format!("{why}; sync: {sync}"),
        }
    }
}

/// Cost of a path, end to end: a kernel that writes every pixel, the transfer, and a draw that reads every pixel.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PathCost {
    /// Synchronisation of the two sides.
    pub sync: SyncKind,
    /// Number of frames behind.
    pub frames_behind: usize,
    /// Median time, in microseconds a frame.
    pub median_us: f64,
    /// 99th percentile, in microseconds; with few samples, the maximum.
    pub p99_us: f64,
    /// Third minus first quartile, in microseconds.
    pub spread_us: f64,
    /// Every sample, in microseconds a frame.
    pub samples_us: Vec<f64>,
}

impl PathCost {
    pub(super) fn of(sync: SyncKind, frames_behind: usize, samples_us: Vec<f64>) -> Self {
        let [low, median_us, high, p99_us] = quantiles(&samples_us, [0.25, 0.5, 0.75, 0.99]);
        Self { sync, frames_behind, median_us, p99_us, spread_us: high - low, samples_us }
    }
}

/// One path of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PathReport {
    /// Identity of the path.
    pub id: PathId,
    /// Family of the path.
    pub kind: PathKind,
    /// Description of the mechanism.
    pub mechanism: &'static str,
    /// State of the path.
    #[serde(flatten)]
    pub state: PathState,
    /// Costs of the path, for each kind of synchronisation that was timed.
    pub measured: Vec<PathCost>,
}

impl PathReport {
    /// Median time of the fastest synchronisation, in microseconds a frame.
    pub fn median_us(&self) -> Option<f64> {
        self.measured.iter().map(|m| m.median_us).min_by(f64::total_cmp)
    }
}

impl fmt::Display for PathReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = self.median_us().map(|us| format!("{us:.0} us")).unwrap_or_default();
        write!(f, "{:<22} {:<14} {cost:>9}  {}", self.id, self.state.word(), self.state.detail())
    }
}

/// A named finding that the user can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Stable name, e.g. `software-display`.
    pub name: &'static str,
    /// What was found.
    pub finding: String,
    /// What the user can do about it.
    pub advice: String,
    /// A shell command that fixes it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Diagnosis {
    /// Creates a finding with advice; `name` is stable.
    pub fn new(name: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, finding: finding.into(), advice: advice.into(), command: None }
    }

    /// Adds the shell command that fixes it.
    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

/// One measurement of a pipelined path at a certain lateness.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Lateness {
    /// Number of frames behind.
    pub frames_behind: usize,
    /// Time of a frame in microseconds, including a kernel and a draw that access every pixel.
    pub microseconds: f64,
}

/// Result of comparing a path with the current one while the program ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// It is faster and its pixels are correct: the next frames use it.
    Quicker,
    /// Neither is significantly faster: nothing changes.
    AsGood,
    /// It is slower.
    Slower,
    /// It does not work.
    Failed {
        /// Reason for the failure.
        reason: String,
    },
}

/// One path that was compared with the current one while the program ran ([`crate::select::Trials`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The path that was compared.
    pub path: PathId,
    /// The path, with the synchronisation where that is not the path's own.
    pub variant: String,
    /// The path that was current then, in the same form.
    pub against: String,
    /// Ratio of its time to that of the current one, where both had turns.
    pub ratio: Option<Ratio>,
    /// Median time of a frame, in microseconds.
    pub median_us: Option<f64>,
    /// Number of turns of each.
    pub turns: u32,
    /// Result of the comparison.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Time since the link was opened or its surface was changed.
    pub after: Duration,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {:.1} s: {}", self.after.as_secs_f64(), self.variant)?;
        if let Some(us) = self.median_us {
            write!(f, ", {us:.0} us a frame")?;
        }
        if let Some(Ratio { ratio, uncertainty }) = self.ratio {
            write!(f, ", takes {ratio:.2} ± {uncertainty:.2} of the time of {} ({} turns)", self.against, self.turns)?;
        }
        match &self.outcome {
            Outcome::Quicker => f.write_str(": taken"),
            Outcome::AsGood => f.write_str(": equally fast, nothing changes"),
            Outcome::Slower => f.write_str(": slower"),
            Outcome::Failed { reason } => write!(f, ": does not work: {reason}"),
        }
    }
}

/// Comparisons after the start.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct LaterTrials {
    /// Comparisons so far, in order of time.
    pub comparisons: Vec<Comparison>,
    /// Names of the candidates that are still to be compared.
    pub left: Vec<String>,
    /// Time that the comparisons took in addition to the frames.
    pub spent: Duration,
    /// Time that passed since the link was opened or its surface was changed.
    pub running: Duration,
}

impl fmt::Display for LaterTrials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for comparison in &self.comparisons {
            writeln!(f, "  {comparison}")?;
        }
        if !self.left.is_empty() {
            writeln!(f, "  to be compared while the program runs: {}", self.left.join(", "))?;
        }
        if !self.spent.is_zero() {
            let [spent, running] = [self.spent, self.running].map(|time| time.as_secs_f64());
            let share = 100.0 * spent / running.max(1e-9);
            writeln!(f, "  comparing took {:.0} ms of {running:.1} s, {share:.1} %", spent * 1e3)?;
        }
        Ok(())
    }
}

/// Everything about one pairing of a backend and a display for one surface. Paths are in the order of rank.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProbeReport {
    /// The compute device.
    pub compute: DeviceIdentity,
    /// The display's device.
    pub display: DeviceIdentity,
    /// Description of the surface that is shown.
    pub surface: SurfaceDesc,
    /// Reason for the order of the paths, in words.
    pub order: &'static str,
    /// Environment variables that are in force.
    pub overrides: Vec<&'static str>,
    /// Manner in which the display drew during the measurements, and the reason ([`crate::Display::drawn`]).
    pub drawn: Option<String>,
    /// Time at each lateness of the current path, if [`crate::Mode::Throughput`] measured it.
    pub lateness: Vec<Lateness>,
    /// Comparisons after the start, and those that are still to be done.
    pub later: LaterTrials,
    /// What audits have found, as of the last frame; empty where no link shows frames.
    pub audits: AuditReport,
    /// Every path, in the order of rank.
    pub paths: Vec<PathReport>,
    /// Findings with advice.
    pub diagnoses: Vec<Diagnosis>,
}

impl ProbeReport {
    /// Returns the current path; `None` where no path works.
    pub fn chosen(&self) -> Option<&PathReport> {
        self.paths.iter().find(|p| matches!(p.state, PathState::Chosen { .. }))
    }

    /// Iterates over the working paths that share memory of a hardware device.
    pub fn shared(&self) -> impl Iterator<Item = &PathReport> {
        let is_hardware = !self.compute.software && !self.display.software;
        self.paths.iter().filter(move |path| is_hardware && path.state.works() && path.kind.is_shared())
    }

    /// Takes over the results of an earlier report of the same surface, for paths that were not tried this time.
    pub(crate) fn inherit(&mut self, earlier: &Self) {
        self.later = LaterTrials { left: Vec::new(), ..earlier.later.clone() };
        for row in &mut self.paths {
            let Some(known) = earlier.paths.iter().find(|known| known.id == row.id) else { continue };
            let tried = matches!(
                known.state,
                PathState::OpenFailed { .. }
                    | PathState::Rejected { .. }
                    | PathState::Slower
                    | PathState::Verified { .. }
            );
            if row.state == PathState::Offered && tried {
                row.state = known.state.clone();
            }
            if row.measured.is_empty() {
                row.measured.clone_from(&known.measured);
            }
        }
    }

    /// Adds the result of a later comparison to the report of its path.
    pub(crate) fn note(&mut self, comparison: Comparison, measured: Option<PathCost>) {
        if let Some(row) = self.paths.iter_mut().find(|row| row.id == comparison.path) {
            match &comparison.outcome {
                // A path whose own synchronisation works is not rejected because another one fails.
                Outcome::Failed { reason } if comparison.variant == row.id.name() && !row.state.works() => {
                    row.state = PathState::Rejected { reason: reason.clone() };
                }
                Outcome::Slower | Outcome::AsGood if row.state == PathState::Offered => row.state = PathState::Slower,
                _ => {}
            }
            row.measured.extend(measured);
        }
        self.later.comparisons.push(comparison);
    }

    /// Records that another path is current.
    pub(crate) fn change(&mut self, id: PathId, sync: SyncKind, why: String) {
        for row in &mut self.paths {
            match &row.state {
                PathState::Chosen { sync, .. } => row.state = PathState::Verified { sync: *sync },
                _ if row.id == id => {}
                _ => continue,
            }
            if row.id == id {
                row.state = PathState::Chosen { sync, why: why.clone() };
            }
        }
    }

    /// Returns each path that does not work with its reason, in one line.
    pub fn failures(&self) -> String {
        let failed = self
            .paths
            .iter()
            .filter(|p| !p.state.works() && !matches!(p.state, PathState::Offered | PathState::Slower));
        failed.map(|p| format!("{}: {}", p.id, p.state.detail())).collect::<Vec<_>>().join("; ")
    }
}

impl fmt::Display for ProbeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, unwritten pixels: {}, order: {}", self.surface, self.surface.unwritten(), self.order)?;
        for (side, device) in [("compute", &self.compute), ("display", &self.display)] {
            let kind = if device.software { "software" } else { "hardware" };
            writeln!(f, "  {side}: {device} ({kind}, {} memory), {}, {}", device.memory, device.vendor, device.driver)?;
            let uuid = device.uuid.map_or("unknown".into(), |uuid| uuid.to_string());
            writeln!(f, "           uuid {uuid}, pci {}", device.pci.as_deref().unwrap_or("unknown"))?;
        }
        for p in &self.paths {
            writeln!(f, "  {p}")?;
        }
        if let Some(drawn) = &self.drawn {
            writeln!(f, "  drawn by {drawn}")?;
        }
        for l in &self.lateness {
            writeln!(f, "  {} behind: {:.0} us a frame", counted(l.frames_behind, "frame"), l.microseconds)?;
        }
        write!(f, "{}", self.later)?;
        for d in &self.diagnoses {
            writeln!(f, "  note {}: {}. {}", d.name, d.finding, d.advice)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::quantile;

    #[test]
    fn one_slow_frame_moves_only_the_tail() {
        let mut samples: Vec<f64> = (0..99).map(|i| 100.0 + f64::from(i % 3)).collect();
        samples.push(5000.0);
        let measured = PathCost::of(SyncKind::Finish, 0, samples);
        assert_eq!((measured.median_us, measured.spread_us), (101.0, 2.0));
        assert!(measured.p99_us <= 5000.0 && measured.samples_us.len() == 100);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), 1.5);
    }
}
