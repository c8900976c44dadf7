//! Selection of the path: candidates that both sides offer are verified with pixels and timed against each other, and
//! the result is remembered.
//!
//! | module | content |
//! |---|---|
//! | `rank` | the order in which paths are tried, by their work and the location of memory |
//! | `candidates` | all candidates, and everything known about them so far |
//! | `path_variant` | opening, verifying and timing one candidate; proofs of this thread |
//! | `calibrate` | timing at the start, by the rules of [`tournament`](crate::tournament) |
//! | `live_trials` | comparisons while the program runs, by the same rules |
//! | `depth` | the best lateness of a pipelined path |
//! | `profile` | earlier measurements |
//! | [`verify`] | verification with pixels |
//! | [`report`] | the findings |
//! | [`environment`] | the user's settings in the environment |

mod calibrate;
mod candidates;
mod depth;
mod diagnose;
pub mod environment;
mod live_trials;
mod path_variant;
mod policy;
mod profile;
mod rank;
pub mod report;
pub mod verify;

pub use crate::tournament::{Clock, Ratio, quantile, quantiles};
pub(crate) use candidates::{CurrentPath, PathHistory};
pub(crate) use live_trials::{LiveTrials, Progress, TrialContext, TrialLimit};
pub(crate) use path_variant::{PathVariant, distrust};
pub use policy::{Audit, DEFAULT_BUDGET, MAX_FRAMES_BEHIND, Mode, Policy, Profiles, Trials};
pub use report::PathCost;

use crate::compute::ComputeBackend;
use crate::describe::error::{Error, Result};
use crate::describe::panics::contained;
use crate::describe::surface::SurfaceDesc;
use crate::display::Display;
use crate::path::{OpenedPath, Pairing, PathId, SharingPath, begin_from_zero};
use crate::select::report::{Lateness, PathReport, PathState, ProbeReport};
use crate::tournament::{HOPELESS, micros};
use calibrate::{Calibration, Event, calibrate};
use candidates::Candidates;
use path_variant::{Candidate, remember_proof};
use profile::{ChoiceBasis, Key, SavedChoice};
use std::sync::Arc;
use std::time::Duration;
use tracing::info;
pub(crate) use verify::ProofExtent;

/// A path that works, and how it was selected.
pub struct Selection {
    /// The opened path. Its surface is zero, and a frame that writes nothing shows zero.
    pub path: OpenedPath,
    /// Identity of the path.
    pub id: PathId,
    /// Everything that was found about all paths.
    pub report: ProbeReport,
    /// Comparisons that are left for later.
    pub(crate) live_trials: LiveTrials,
}

/// Finds a path between `backend` and `display` whose pixels are correct: the fastest one that the policy's time allows
/// to find.
///
/// # Errors
/// [`Error::NoPath`] where no path works or the forced one does not; [`Error::InvalidInput`] where the forced one is
/// not one of [`Policy::paths`]; the errors of [`SurfaceDesc::check`] for `desc`.
pub fn open_path(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) -> Result<Selection> {
    open_except(backend, display, desc, policy, &PathHistory::default())
}

/// Finds a path like [`open_path`], taking into account what happened before.
pub(crate) fn open_except(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
    history: &PathHistory<'_>,
) -> Result<Selection> {
    let pairing = policy.pairing(backend, display, desc);
    let mut candidates = Candidates::new(&pairing, policy, history.demoted)?;
    if let Some(known) = history.known {
        candidates.prefer_quicker(known, policy);
    }
    let (candidate, path, live_trials) = loop {
        let Some(choice) = choose(&pairing, policy, &mut candidates, history.keep) else {
            return Err(no_path(&candidates.report, policy));
        };
        let Choice { candidate, mut path, frames_behind, learned, frame, untried, opening } = choice;
        let late = frames_behind.or(history.frames_behind);
        let ready = contained(|| {
            let found = settle(&mut path, &pairing, policy, late, frame)?;
            // Done last, so that patterns of a proof or a measurement are never visible.
            begin_from_zero(&mut path, &pairing)?;
            Ok(found)
        });
        match ready {
            Ok(lateness) => {
                candidates.report.lateness = lateness;
                if let Some((key, found)) = learned {
                    let left = untried.clone();
                    let what = SavedChoice { candidate, frames_behind: path.frames_behind(), found, left };
                    profile::store(&policy.profiles, &key, what);
                }
                let untried = if policy.trials == Trials::Off { Vec::new() } else { untried };
                let live_trials = LiveTrials::new(untried, &policy.clock, opening, frame);
                break (candidate, path, live_trials);
            }
            Err(error) => candidates.give_up(candidate.id(), &error),
        }
    };
    remember_proof(&pairing, candidate.settled(&pairing));
    let (id, mut report) = (candidate.id(), candidates.report);
    report.drawn = drawn_by(display);
    report.later.left = live_trials.left().iter().map(PathVariant::to_string).collect();
    info!(path = %id, compute = %report.compute, display = %report.display, surface = %desc, "path chosen");
    Ok(Selection { path, id, report, live_trials })
}

/// Opens a candidate that worked before for another surface, and compares its pixels. The caller overwrites the content
/// that this leaves behind.
pub(crate) fn open_variant(
    pairing: &Pairing<'_>,
    policy: &Policy,
    variant: PathVariant,
    frames_behind: usize,
    compared: ProofExtent,
) -> Result<OpenedPath> {
    let gone = || Error::invalid("resize", format!("{variant} is not one of the policy's paths"));
    let candidate = Candidate { spec: policy.paths.get(variant.id).ok_or_else(gone)?, sync: variant.sync };
    let pairing = candidate.pairing(pairing);
    let refuse = |reason| Error::unsupported(pairing.display.device(), reason).of("resize");
    candidate.spec.check_support(&pairing).ok_or_else(refuse)?;
    contained(|| {
        let mut path = candidate.spec.open(&pairing)?;
        verify::compare(variant.id, &mut path, pairing.backend.as_ref(), &pairing.layout(), compared)
            .map_err(|error| error.with_states(|| pairing.display.unusual_states()))?;
        settle(&mut path, &pairing, policy, Some(frames_behind), None)?;
        Ok(path)
    })
    .inspect_err(|_| distrust(pairing.backend, pairing.display))
}

/// Sets how late frames are shown, where the policy leaves that open, and returns the measurements.
fn settle(
    path: &mut OpenedPath,
    pairing: &Pairing<'_>,
    policy: &Policy,
    frames_behind: Option<usize>,
    frame: Option<Duration>,
) -> Result<Vec<Lateness>> {
    match (policy.mode, frames_behind) {
        (Mode::Throughput { .. }, None) => depth::settle(path, pairing, &policy.clock, policy.shares().1, frame),
        (Mode::Throughput { .. }, Some(frames)) => {
            path.set_frames_behind(frames)?;
            path.trim();
            Ok(Vec::new())
        }
        _ => Ok(Vec::new()),
    }
}

/// Tries and times every offered path, however long it takes, and reports the results. Where none works, that is a
/// finding and not an error. With a budget of zero nothing is timed.
pub fn probe(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) -> Result<ProbeReport> {
    let pairing = policy.pairing(backend, display, desc);
    let mut candidates = Candidates::new(&pairing, policy, &[])?;
    if policy.budget.is_zero() {
        for candidate in candidates.defaults() {
            drop(candidates.attempt(&pairing, candidate, None));
        }
    } else {
        let found = calibrate(&pairing, &policy.clock, &candidates.candidates, None);
        candidates.record(found.events);
    }
    let works = |row: &&PathReport| row.state.works() && policy.force.is_none_or(|forced| forced == row.id);
    let cost = |row: &PathReport| row.median_us().unwrap_or(0.0);
    // Among equal costs (nothing was timed) the first wins, which ranks highest.
    let best = candidates.report.paths.iter().filter(works).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    if let Some((id, PathState::Verified { sync })) = best.map(|row| (row.id, row.state.clone())) {
        let why = match (policy.budget.is_zero(), policy.force) {
            (false, None) => "the fastest of those whose pixels are right".into(),
            _ => candidates.why_static(id, policy),
        };
        candidates.report.change(id, sync, why);
    }
    candidates.report.drawn = drawn_by(display);
    Ok(candidates.report)
}

/// Describes the manner of the last draw, which was a draw of the measurement if there was one.
fn drawn_by(display: &Arc<dyn Display>) -> Option<String> {
    display.drawn().map(|drawn| drawn.to_string())
}

/// Forgets the measurements and proofs of this pairing.
pub(crate) fn forget(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) {
    distrust(backend, display);
    if let Some((key, _)) = profile::candidates(&policy.pairing(backend, display, desc), policy) {
        profile::remove(&policy.profiles, &key);
    }
}

/// Remembers that `variant` is the best of all candidates except `left`, by the comparisons while the program ran.
pub(crate) fn remember(context: &TrialContext<'_>, variant: PathVariant, us: f64, left: Vec<PathVariant>) {
    let Some((key, candidates)) = profile::candidates(&context.pairing, context.policy) else { return };
    let Some(candidate) = candidates.into_iter().find(|candidate| candidate.variant() == variant) else { return };
    let what = SavedChoice { candidate, frames_behind: context.frames_behind, found: ChoiceBasis::Quickest(us), left };
    profile::store(&context.policy.profiles, &key, what);
}

/// The selected candidate.
struct Choice<'p> {
    candidate: Candidate<'p>,
    path: OpenedPath,
    /// Best number of frames behind, if it is remembered.
    frames_behind: Option<usize>,
    /// Result of a measurement that was just made, with the key under which it is remembered.
    learned: Option<(Key, ChoiceBasis)>,
    /// Candidates that there was no time to compare it with.
    untried: Vec<PathVariant>,
    /// Time that opening a path takes, if it was measured.
    opening: Duration,
    /// Approximate time of a frame, if it was just measured.
    frame: Option<Duration>,
}

fn choose<'p>(
    pairing: &Pairing<'_>,
    policy: &Policy,
    candidates: &mut Candidates<'p>,
    keep: Option<CurrentPath>,
) -> Option<Choice<'p>> {
    let is_static = policy.budget.is_zero() || policy.force.is_some() || policy.prefer.is_some();
    if is_static || candidates.candidates.len() < 2 {
        for candidate in candidates.in_order(keep) {
            if candidates.is_wanted(candidate, policy)
                && let late = keep.filter(|keep| keep.id == candidate.id()).map(|keep| keep.frames_behind)
                && let Some(path) = candidates.attempt(pairing, candidate, late)
            {
                let why = candidates.why_static(candidate.id(), policy);
                candidates.report.change(candidate.id(), path.sync(), why);
                let (untried, opening) = (Vec::new(), Duration::ZERO);
                return Some(Choice {
                    candidate,
                    path,
                    frames_behind: late,
                    learned: None,
                    frame: None,
                    untried,
                    opening,
                });
            }
        }
        return None;
    }
    let key = Key::new(pairing, &candidates.candidates, policy);
    let remembered = profile::load(&policy.profiles, &key, &candidates.candidates);
    let begun = policy.clock.now();
    // A known candidate opens faster than any candidate that is still to be compared with it.
    let is_known = remembered.as_ref().is_some_and(|before| before.candidate.is_known(pairing));
    if let Some(SavedChoice { candidate, frames_behind, found, ref left }) = remembered
        && found.stands(policy.budget)
        && let Ok(path) = candidate.attempt(pairing, Some(frames_behind))
    {
        let why = match found {
            ChoiceBasis::Quickest(us) => format!("measured before: the fastest, {us:.0} us a frame"),
            ChoiceBasis::First { budget, .. } => format!(
                "the first whose pixels were right; earlier starts had no time to measure within {} ms",
                budget.as_millis()
            ),
        };
        candidates.report.change(candidate.id(), path.sync(), why);
        let frame = match found {
            ChoiceBasis::Quickest(us) => Some(micros(us)),
            ChoiceBasis::First { .. } => None,
        };
        let opening = if is_known { Duration::MAX } else { policy.clock.since(begun) };
        let frames_behind = Some(frames_behind);
        return Some(Choice { candidate, path, frames_behind, learned: None, frame, untried: left.clone(), opening });
    }
    let budget = policy.shares().0;
    let calibration = calibrate(pairing, &policy.clock, &candidates.candidates, Some(budget));
    let Calibration { best, events, left, undecided, opening, frame } = calibration;
    let close =
        best.as_ref().map(|(best, _, measured)| close_to(best.variant(), measured, &events)).unwrap_or_default();
    candidates.record(events);
    let (candidate, path, measured) = best?;
    let median_us = (!measured.samples_us.is_empty()).then_some(measured.median_us);
    candidates.report.change(candidate.id(), path.sync(), why_calibrated(median_us, left.len()));
    let before = || remembered.filter(|before| before.candidate == candidate).map(|before| before.found);
    let mut untried = Vec::new();
    for variant in undecided.into_iter().chain(left).chain(close) {
        if variant != candidate.variant() && !untried.contains(&variant) {
            untried.push(variant);
        }
    }
    let found = median_us.map_or_else(|| ChoiceBasis::first(policy.budget, before()), ChoiceBasis::Quickest);
    let frame = median_us.map(micros).or(frame);
    Some(Choice { candidate, path, frames_behind: None, learned: Some((key, found)), frame, untried, opening })
}

/// Returns candidates that lost to the best by so little that noise may be the reason, the closest first.
fn close_to(best: PathVariant, measured: &PathCost, events: &[(PathVariant, Event)]) -> Vec<PathVariant> {
    let ratio = |(variant, event): &(PathVariant, Event)| match event {
        Ok((other, _)) if *variant != best && !other.samples_us.is_empty() => {
            Some((*variant, other.median_us / measured.median_us))
        }
        _ => None,
    };
    let mut close: Vec<_> = events.iter().filter_map(ratio).filter(|(_, ratio)| *ratio < HOPELESS).collect();
    close.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    close.into_iter().map(|(variant, _)| variant).collect()
}

/// `median_us` is the time of the best, if it was measured; `left` is the number of candidates that were not reached.
fn why_calibrated(median_us: Option<f64>, left: usize) -> String {
    match (median_us, left) {
        (Some(us), 0) => format!("the fastest measured, {us:.0} us a frame"),
        (Some(us), left) => format!("the fastest measured, {us:.0} us a frame; no time to measure {left} more"),
        (None, left) => {
            format!("the first whose pixels are right; opening it took the time for measuring it and {left} more")
        }
    }
}

fn no_path(report: &ProbeReport, policy: &Policy) -> Error {
    let reason = match policy.force {
        None => report.failures(),
        Some(forced) => {
            let own = report.paths.iter().find(|p| p.id == forced).map(|p| p.state.detail()).unwrap_or_default();
            let others: Vec<_> = report
                .paths
                .iter()
                .filter(|p| {
                    p.id != forced && (p.state.works() || matches!(p.state, PathState::Offered | PathState::Slower))
                })
                .map(|p| p.id.name())
                .collect();
            let advice = match others.as_slice() {
                [] => String::new(),
                others => format!(". Use one of: {}", others.join(", ")),
            };
            format!("{forced} was requested, but does not work: {own}{advice}")
        }
    };
    Error::NoPath { compute: report.compute.to_string(), display: report.display.to_string(), reason }
}
