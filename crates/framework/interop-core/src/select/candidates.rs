//! All candidates of a pairing, and everything known about them so far.

use super::calibrate::Event;
use super::diagnose;
use super::path_variant::{Candidate, PathVariant};
use super::policy::{MAX_FRAMES_BEHIND, Policy};
use super::rank::Prices;
use super::report::{LaterTrials, PathReport, PathState, ProbeReport};
use crate::describe::audit_report::AuditReport;
use crate::describe::error::{Error, Result};
use crate::devices::capability::{Support, SyncKind};
use crate::path::{OpenedPath, Pairing, PathId, SharingPath};
use tracing::{debug, warn};

/// What a link knows about its paths when it opens another one.
#[derive(Default)]
pub(crate) struct PathHistory<'a> {
    /// Paths that failed before, each with the reason.
    pub demoted: &'a [(PathId, String)],
    /// The current candidate, to be kept if it works.
    pub keep: Option<CurrentPath>,
    /// Number of frames behind of the path that is being left.
    pub frames_behind: Option<usize>,
    /// Costs that were measured earlier, if any: faster paths are tried first.
    pub known: Option<&'a ProbeReport>,
}

/// A current candidate.
#[derive(Clone, Copy)]
pub(crate) struct CurrentPath {
    pub id: PathId,
    pub sync: SyncKind,
    pub frames_behind: usize,
}

/// All candidates, and everything known about them so far.
pub(super) struct Candidates<'p> {
    pub report: ProbeReport,
    /// Paths with their own synchronisation in the order of rank, then the other synchronisations.
    pub candidates: Vec<Candidate<'p>>,
    /// Candidates that precede the others because of earlier measurements.
    measured: Vec<Candidate<'p>>,
}

impl<'p> Candidates<'p> {
    pub fn new(pairing: &Pairing<'_>, policy: &'p Policy, demoted: &[(PathId, String)]) -> Result<Self> {
        let (compute, display) = (pairing.backend.device(), pairing.display.device());
        let late = policy.mode.most_behind();
        if late > MAX_FRAMES_BEHIND {
            let problem = format!("{late} frames behind were requested; give at most {MAX_FRAMES_BEHIND}");
            return Err(Error::invalid("Link::open", problem));
        }
        pairing.desc.check(&display.to_string(), pairing.display.caps()).map_err(|error| error.of("Link::open"))?;
        for asked in policy.force.iter().chain(&policy.prefer) {
            policy.paths.named(asked.name())?;
        }
        let prices = Prices::of(compute.memory, display.memory);
        let mut ranked: Vec<_> = policy.paths.iter().collect();
        // Each sort is stable: candidates of equal cost keep their order.
        ranked.sort_by_key(|spec| prices.sum(spec.cost));
        if late > 0 {
            ranked.sort_by_key(|spec| !spec.pipelined);
        }
        if let Some(preferred) = policy.prefer {
            ranked.sort_by_key(|spec| spec.id != preferred);
        }
        let (mut paths, mut candidates, mut variants) = (Vec::new(), Vec::new(), Vec::new());
        for spec in ranked {
            let id = spec.id;
            let state = match (demoted.iter().find(|(other, _)| *other == id), spec.check_support(pairing)) {
                (Some((_, reason)), _) => PathState::Demoted { reason: reason.clone() },
                (None, Support::No(reason)) => {
                    debug!(path = %id, %reason, "not offered");
                    PathState::NotOffered { reason }
                }
                (None, Support::Yes) => {
                    candidates.push(Candidate { spec, sync: None });
                    let others = spec.syncs.iter().skip(1).filter(|_| pairing.sync.is_none());
                    let others = others.map(|sync| Candidate { spec, sync: Some(*sync) });
                    variants.extend(others.filter(|c| spec.check_support(&c.pairing(pairing)).is_yes()));
                    PathState::Offered
                }
            };
            let (kind, mechanism) = (spec.kind, spec.mechanism);
            paths.push(PathReport { id, kind, mechanism, state, measured: Vec::new() });
        }
        candidates.extend(variants);
        let report = ProbeReport {
            compute: compute.clone(),
            display: display.clone(),
            surface: *pairing.desc,
            order: prices.order,
            overrides: policy.overridden.clone(),
            paths,
            drawn: None,
            lateness: Vec::new(),
            later: LaterTrials::default(),
            audits: AuditReport::default(),
            diagnoses: diagnose::pairing(pairing, policy),
        };
        Ok(Self { report, candidates, measured: Vec::new() })
    }

    /// Puts measured candidates first, sorted by time, including those with another synchronisation. The others keep
    /// their order.
    pub fn prefer_quicker(&mut self, known: &ProbeReport, policy: &Policy) {
        let cost = |c: &Candidate<'_>| {
            let row = known.paths.iter().find(|row| row.id == c.id())?;
            let sync = c.sync.or(policy.sync).or(c.spec.syncs.first().copied());
            row.measured.iter().find(|m| Some(m.sync) == sync).map(|m| m.median_us)
        };
        self.candidates.retain(|c| c.sync.is_none() || cost(c).is_some());
        let time = |c: &Candidate<'_>| cost(c).unwrap_or(f64::INFINITY);
        self.candidates.sort_by(|a, b| time(a).total_cmp(&time(b)));
        self.measured = self.candidates.iter().filter(|c| cost(c).is_some()).copied().collect();
    }

    /// Returns each path once, with its own synchronisation.
    pub fn defaults(&self) -> Vec<Candidate<'p>> {
        self.candidates.iter().copied().filter(|c| c.sync.is_none()).collect()
    }

    /// Returns the current candidate if its synchronisation is not the path's own, then the measured ones, then
    /// [`Candidates::defaults`].
    pub fn in_order(&self, keep: Option<CurrentPath>) -> Vec<Candidate<'p>> {
        let kept = |c: &&Candidate<'_>| keep.is_some_and(|keep| c.id() == keep.id && c.sync == Some(keep.sync));
        let kept = self.candidates.iter().find(kept).copied();
        let others = self.candidates.iter().copied().filter(|c| c.sync.is_none() || self.measured.contains(c));
        kept.into_iter().chain(others).collect()
    }

    pub fn is_wanted(&self, candidate: Candidate<'p>, policy: &Policy) -> bool {
        policy.force.is_none_or(|forced| forced == candidate.id())
    }

    fn row(&mut self, id: PathId) -> Option<&mut PathReport> {
        self.report.paths.iter_mut().find(|row| row.id == id)
    }

    /// Opens and verifies a candidate; `None` where it does not work.
    pub fn attempt(
        &mut self,
        pairing: &Pairing<'_>,
        candidate: Candidate<'p>,
        frames_behind: Option<usize>,
    ) -> Option<OpenedPath> {
        match candidate.attempt(pairing, frames_behind) {
            Ok(path) => {
                self.set(candidate.id(), PathState::Verified { sync: path.sync() });
                Some(path)
            }
            Err(state) => {
                warn!(path = %candidate.id(), reason = state.detail(), "does not work");
                self.set(candidate.id(), state);
                None
            }
        }
    }

    fn set(&mut self, id: PathId, state: PathState) {
        if let Some(row) = self.row(id) {
            row.state = state;
        }
    }

    /// Records that a path whose pixels were correct failed before the first frame.
    pub fn give_up(&mut self, id: PathId, error: &Error) {
        warn!(path = %id, reason = %error, "does not work");
        self.set(id, PathState::Rejected { reason: format!("before the first frame: {error}") });
        self.candidates.retain(|candidate| candidate.id() != id);
    }

    pub fn record(&mut self, events: Vec<(PathVariant, Event)>) {
        for (variant, event) in events {
            let Some(row) = self.row(variant.id) else { continue };
            match event {
                Ok((measured, proved)) => {
                    if proved && !row.state.works() {
                        row.state = PathState::Verified { sync: measured.sync };
                    } else if row.state == PathState::Offered {
                        row.state = PathState::Slower;
                    }
                    // The time may have ended before the first sample.
                    if !measured.samples_us.is_empty() {
                        row.measured.push(measured);
                    }
                }
                Err(state) => {
                    let (path, sync) = (variant.id, variant.sync);
                    warn!(%path, sync = sync.map(tracing::field::display), reason = state.detail(), "does not work");
                    // A path whose own synchronisation works is not rejected because another one fails.
                    if variant.sync.is_none() {
                        row.state = state;
                    }
                }
            }
        }
    }

    pub fn why_static(&self, id: PathId, policy: &Policy) -> String {
        if policy.force.is_some() {
            return match policy.overridden.contains(&"PIXELFERRY_PATH") {
                true => "forced by PIXELFERRY_PATH".into(),
                false => "forced by the caller".into(),
            };
        }
        if policy.prefer == Some(id) {
            return "preferred by the caller, or in use before a resize".into();
        }
        let order = self.report.order;
        if self.measured.iter().any(|c| c.id() == id) {
            return "the fastest working one of those measured before".into();
        }
        match self.report.paths.iter().position(|row| row.id == id).unwrap_or(0) {
            0 => format!("it ranks first and its pixels are right; order: {order}"),
            n => format!("its pixels are right, and the {n} ranked above it do not work here; order: {order}"),
        }
    }
}
