//! Selection of the path: candidates that both sides offer are proved by their pixels, timed against each other, and
//! remembered.
//!
//! | where | what |
//! |---|---|
//! | `rank` | the order in which paths are tried, by what each does and where memory is |
//! | `field` | everything that may be taken, and what is known of it so far |
//! | `attempt` | opening, proving and timing one; what this thread proved before |
//! | `calibrate` | timing at the start, by the rules of [`tournament`](crate::tournament) |
//! | `meanwhile` | comparing while the program runs, by the same |
//! | `depth` | how late a pipelined path had best show |
//! | `profile` | what was measured before |
//! | [`verify`] | proof by pixels |
//! | [`report`] | what was found out |
//! | [`environment`] | what the user may ask for without changing the program |

mod attempt;
mod calibrate;
mod depth;
mod diagnose;
pub mod environment;
mod field;
mod meanwhile;
mod policy;
mod profile;
mod rank;
pub mod report;
pub mod verify;

pub use crate::tournament::{Clock, Ratio, quantile, quantiles};
pub(crate) use attempt::{Way, distrust};
pub(crate) use field::{Keep, Standing};
pub(crate) use meanwhile::{Limit, Meanwhile, Step, Table};
pub use policy::{DEFAULT_BUDGET, MAX_FRAMES_BEHIND, Mode, Policy, Profiles, Trials};
pub use report::Measured;

use crate::compute::ComputeBackend;
use crate::describe::error::{Error, Result};
use crate::describe::panics::contained;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::Support;
use crate::display::Display;
use crate::path::{OpenedPath, Pairing, PathId, SharingPath, begin_from_zero};
use crate::select::report::{Lateness, PathReport, PathState, ProbeReport};
use crate::tournament::{HOPELESS, micros};
use attempt::{Candidate, remember_proof};
use calibrate::{Calibration, Event, calibrate};
use field::Field;
use profile::{Found, Key, Remembered};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tracing::info;
pub(crate) use verify::Compared;

/// A path that works, and how it was found.
pub struct Selection {
    /// The path. Its surface is zero, and a frame that writes nothing shows zero.
    pub path: OpenedPath,
    /// Identity of the path.
    pub id: PathId,
    /// Everything that was found out.
    pub report: ProbeReport,
    /// Comparisons that are left for later.
    pub(crate) meanwhile: Meanwhile,
}

/// Finds a path between `backend` and `display` whose pixels are right: the quickest, as far as the policy gives time to
/// find out.
///
/// # Errors
/// [`Error::NoPath`] where none works or the forced one does not; [`Error::InvalidInput`] where the forced one is not one of
/// [`Policy::paths`]; what [`SurfaceDesc::check`] says of `desc`.
pub fn open_path(
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) -> Result<Selection> {
    open_without(backend, display, desc, policy, &Standing::default())
}

/// Finds a path as [`open_path`] does, with regard to what happened before.
pub(crate) fn open_without(
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
    standing: &Standing<'_>,
) -> Result<Selection> {
    let pairing = policy.pairing(backend, display, desc);
    let mut field = Field::new(&pairing, policy, standing.demoted)?;
    if let Some(known) = standing.known {
        field.prefer_quicker(known, policy);
    }
    let (candidate, path, meanwhile) = loop {
        let Some(choice) = choose(&pairing, policy, &mut field, standing.keep) else {
            return Err(no_path(&field.report, policy));
        };
        let Choice { candidate, mut path, frames_behind, learned, frame, untried, opening } = choice;
        let late = frames_behind.or(standing.frames_behind);
        let ready = contained(|| {
            let found = settle(&mut path, &pairing, policy, late, frame)?;
            // Last, so that no pattern of a proof or of a measurement is ever seen.
            begin_from_zero(&mut path, &pairing)?;
            Ok(found)
        });
        match ready {
            Ok(lateness) => {
                field.report.lateness = lateness;
                if let Some((key, found)) = learned {
                    let left = untried.clone();
                    let what = Remembered { candidate, frames_behind: path.frames_behind(), found, left };
                    profile::store(&policy.profiles, &key, what);
                }
                let untried = if policy.trials == Trials::Off { Vec::new() } else { untried };
                let meanwhile = Meanwhile::new(untried, &policy.clock, opening, frame);
                break (candidate, path, meanwhile);
            }
            Err(error) => field.give_up(candidate.id(), &error),
        }
    };
    remember_proof(&pairing, candidate.settled(&pairing));
    let (id, mut report) = (candidate.id(), field.report);
    report.drawn = drawn_by(display);
    report.later.left = meanwhile.left().iter().map(Way::to_string).collect();
    info!(path = %id, compute = %report.compute, display = %report.display, surface = %desc, "path chosen");
    Ok(Selection { path, id, report, meanwhile })
}

/// Opens a way that worked before, for another surface, and compares its pixels. What that leaves behind is for the caller to
/// overwrite.
pub(crate) fn open_way(
    pairing: &Pairing<'_>,
    policy: &Policy,
    way: Way,
    frames_behind: usize,
    compared: Compared,
) -> Result<OpenedPath> {
    let gone = || Error::invalid("resize", format!("{way} is not one of the policy's paths"));
    let candidate = Candidate { spec: policy.paths.get(way.id).ok_or_else(gone)?, sync: way.sync };
    let pairing = candidate.pairing(pairing);
    if let Support::No(reason) = candidate.spec.check_support(&pairing) {
        let device = pairing.display.device().to_string();
        return Err(Error::Unsupported { operation: "resize", device, reason });
    }
    contained(|| {
        let mut path = candidate.spec.open(&pairing)?;
        verify::compare(way.id, &mut path, pairing.backend.as_ref(), &pairing.layout(), compared)
            .map_err(|error| error.with_states(|| pairing.display.unusual_states()))?;
        settle(&mut path, &pairing, policy, Some(frames_behind), None)?;
        Ok(path)
    })
    .inspect_err(|_| distrust(pairing.backend, pairing.display))
}

/// Settles how late frames are shown, where that was left open, and returns what was measured for it.
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

/// Tries and times every path that is offered, however long it takes, and reports; that none works is a finding here,
/// not an error. With a budget of zero nothing is timed.
pub fn probe(
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) -> Result<ProbeReport> {
    let pairing = policy.pairing(backend, display, desc);
    let mut field = Field::new(&pairing, policy, &[])?;
    if policy.budget.is_zero() {
        for candidate in field.defaults() {
            drop(field.attempt(&pairing, candidate, None));
        }
    } else {
        let found = calibrate(&pairing, &policy.clock, &field.candidates, None);
        field.record(found.events);
    }
    let works = |row: &&PathReport| row.state.works() && policy.force.is_none_or(|forced| forced == row.id);
    let cost = |row: &PathReport| row.median_us().unwrap_or(0.0);
    // Among equal costs (nothing was timed) the first wins, which ranks highest.
    let best = field.report.paths.iter().filter(works).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    if let Some((id, PathState::Verified { sync })) = best.map(|row| (row.id, row.state.clone())) {
        let why = match (policy.budget.is_zero(), policy.force) {
            (false, None) => "the quickest of those whose pixels are right".into(),
            _ => field.why_static(id, policy),
        };
        field.report.change(id, sync, why);
    }
    field.report.drawn = drawn_by(display);
    Ok(field.report)
}

/// Tells how the last draw was done, which was one of a measurement where something was measured.
fn drawn_by(display: &Rc<dyn Display>) -> Option<String> {
    display.drawn().map(|drawn| drawn.to_string())
}

/// Forgets what was measured and proved for this pairing.
pub(crate) fn forget(
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) {
    distrust(backend, display);
    let pairing = policy.pairing(backend, display, desc);
    if let Ok(field) = Field::new(&pairing, policy, &[]) {
        profile::remove(&policy.profiles, &Key::new(&pairing, &field.candidates, policy));
    }
}

/// Remembers that `way` is the best of all but `left`, as far as was compared while the program ran.
pub(crate) fn remember(table: &Table<'_>, policy: &Policy, way: Way, us: f64, left: Vec<Way>) {
    let Ok(field) = Field::new(&table.pairing, policy, &[]) else { return };
    let Some(candidate) = field.candidates.iter().find(|candidate| candidate.way() == way).copied() else { return };
    let what = Remembered { candidate, frames_behind: table.frames_behind, found: Found::Quickest(us), left };
    profile::store(&policy.profiles, &Key::new(&table.pairing, &field.candidates, policy), what);
}

/// The path to take.
struct Choice<'p> {
    candidate: Candidate<'p>,
    path: OpenedPath,
    /// Number of frames behind that was best, if that is remembered.
    frames_behind: Option<usize>,
    /// Result of a measurement made just now, with the key that it is remembered under.
    learned: Option<(Key, Found)>,
    /// Candidates that there was no time to compare it with.
    untried: Vec<Way>,
    /// Time that opening a path takes, if that was measured.
    opening: Duration,
    /// Approximate time of a frame, if that was measured just now.
    frame: Option<Duration>,
}

fn choose<'p>(pairing: &Pairing<'_>, policy: &Policy, field: &mut Field<'p>, keep: Option<Keep>) -> Option<Choice<'p>> {
    let is_static = policy.budget.is_zero() || policy.force.is_some() || policy.prefer.is_some();
    if is_static || field.candidates.len() < 2 {
        for candidate in field.in_order(keep) {
            if field.is_wanted(candidate, policy)
                && let late = keep.filter(|keep| keep.id == candidate.id()).map(|keep| keep.frames_behind)
                && let Some(path) = field.attempt(pairing, candidate, late)
            {
                let why = field.why_static(candidate.id(), policy);
                field.report.change(candidate.id(), path.sync(), why);
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
    let key = Key::new(pairing, &field.candidates, policy);
    let remembered = profile::load(&policy.profiles, &key, &field.candidates);
    let begun = policy.clock.now();
    // One that is known opens sooner than any that is to be compared with it.
    let is_known = remembered.as_ref().is_some_and(|before| before.candidate.is_known(pairing));
    if let Some(Remembered { candidate, frames_behind, found, ref left }) = remembered
        && found.stands(policy.budget)
        && let Ok(path) = candidate.attempt(pairing, Some(frames_behind))
    {
        let why = match found {
            Found::Quickest(us) => format!("measured before: the quickest, {us:.0} us a frame"),
            Found::First { budget, .. } => format!(
                "the first whose pixels were right; earlier starts had no time to measure within {} ms",
                budget.as_millis()
            ),
        };
        field.report.change(candidate.id(), path.sync(), why);
        let frame = match found {
            Found::Quickest(us) => Some(micros(us)),
            Found::First { .. } => None,
        };
        let opening = if is_known { Duration::MAX } else { policy.clock.since(begun) };
        let frames_behind = Some(frames_behind);
        return Some(Choice { candidate, path, frames_behind, learned: None, frame, untried: left.clone(), opening });
    }
    let budget = policy.shares().0;
    let calibration = calibrate(pairing, &policy.clock, &field.candidates, Some(budget));
    let Calibration { best, events, left, undecided, opening, frame } = calibration;
    let close = best.as_ref().map(|(best, _, measured)| close_to(best.way(), measured, &events)).unwrap_or_default();
    field.record(events);
    let (candidate, path, measured) = best?;
    let median_us = (!measured.samples_us.is_empty()).then_some(measured.median_us);
    field.report.change(candidate.id(), path.sync(), why_calibrated(median_us, left.len()));
    let before = || remembered.filter(|before| before.candidate == candidate).map(|before| before.found);
    let mut untried = Vec::new();
    for way in undecided.into_iter().chain(left).chain(close) {
        if way != candidate.way() && !untried.contains(&way) {
            untried.push(way);
        }
    }
    let found = median_us.map_or_else(|| Found::first(policy.budget, before()), Found::Quickest);
    let frame = median_us.map(micros).or(frame);
    Some(Choice { candidate, path, frames_behind: None, learned: Some((key, found)), frame, untried, opening })
}

/// Ways that lost to the best by so little that a short time of noise may have done it, the closest first.
fn close_to(best: Way, measured: &Measured, events: &[(Way, Event)]) -> Vec<Way> {
    let ratio = |(way, event): &(Way, Event)| match event {
        Ok((other, _)) if *way != best && !other.samples_us.is_empty() => {
            Some((*way, other.median_us / measured.median_us))
        }
        _ => None,
    };
    let mut close: Vec<_> = events.iter().filter_map(ratio).filter(|(_, ratio)| *ratio < HOPELESS).collect();
    close.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    close.into_iter().map(|(way, _)| way).collect()
}

/// `median_us`: of the best, where there was time to measure it; `left`: candidates that were not reached.
fn why_calibrated(median_us: Option<f64>, left: usize) -> String {
    match (median_us, left) {
        (Some(us), 0) => format!("the quickest measured, {us:.0} us a frame"),
        (Some(us), left) => format!("the quickest measured, {us:.0} us a frame; no time for {left} more"),
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
                others => format!(". Take one of: {}", others.join(", ")),
            };
            format!("{forced} was asked for, but {own}{advice}")
        }
    };
    Error::NoPath { compute: report.compute.to_string(), display: report.display.to_string(), reason }
}
