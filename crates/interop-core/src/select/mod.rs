//! Which path is taken: rank by memory kind, open, prove by pixels, take the first that works.

mod depth;
mod diagnose;
mod policy;
mod rank;

pub use policy::{MAX_FRAMES_LATE, Mode, Policy};

use crate::capability::Support;
use crate::compute::ComputeBackend;
use crate::display::Display;
use crate::error::{Error, Result};
use crate::path::{OpenedPath, Pairing, PathId, SharingPath, spec};
use crate::report::{PathReport, PathState, ProbeReport};
use crate::surface::SurfaceDesc;
use crate::verify::verify;
use std::rc::Rc;
use std::sync::Arc;
use tracing::{debug, info, warn};

/// A path that works, and how it was found.
pub struct Selection {
    /// The path, with a verification pattern in its surface.
    pub path: OpenedPath,
    /// Which one.
    pub id: PathId,
    /// Everything that was found out.
    pub report: ProbeReport,
}

/// Finds a path between `backend` and `display` whose pixels are right.
///
/// # Errors
/// [`Error::NoPath`] where none works or the forced one does not; what [`SurfaceDesc::check`] says of `desc`.
pub fn open_path(
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) -> Result<Selection> {
    let pairing = policy.pairing(backend, display, desc);
    let (mut report, chosen) = try_paths(&pairing, policy)?;
    match chosen {
        Some((id, mut path)) => {
            if let Mode::Throughput { .. } = policy.mode {
                report.lateness = depth::settle(&mut path, &pairing)?;
            }
            info!(path = %id, compute = %report.compute, display = %report.display, surface = %desc, "path chosen");
            Ok(Selection { path, id, report })
        }
        None => Err(no_path(&report, policy)),
    }
}

/// Tries every path that is offered and reports; that none works is a finding here, not an error.
pub fn probe(
    backend: &Arc<dyn ComputeBackend>,
    display: &Rc<dyn Display>,
    desc: &SurfaceDesc,
    policy: &Policy,
) -> Result<ProbeReport> {
    let policy = Policy { probe_all: true, ..policy.clone() };
    Ok(try_paths(&policy.pairing(backend, display, desc), &policy)?.0)
}

fn try_paths(pairing: &Pairing<'_>, policy: &Policy) -> Result<(ProbeReport, Option<(PathId, OpenedPath)>)> {
    let (compute, display) = (pairing.backend.device(), pairing.display.device());
    let late = policy.mode.most_late();
    if late > MAX_FRAMES_LATE {
        let problem = format!("{late} frames late were asked for; give at most {MAX_FRAMES_LATE}");
        return Err(Error::invalid("open", problem));
    }
    pairing.desc.check(&display.to_string(), pairing.display.caps(), "open")?;
    let mut rank = rank::by_memory_kind(compute.memory, display.memory);
    if late > 0 {
        // Stable: the others keep their order.
        rank.ids.sort_by_key(|id| !spec(*id).pipelined);
    }
    if let Some(preferred) = policy.prefer {
        rank.ids.sort_by_key(|id| *id != preferred);
    }
    let mut chosen = None;
    let mut paths = Vec::with_capacity(rank.ids.len());
    for id in rank.ids {
        let spec = spec(id);
        let wanted = policy.force.is_none_or(|forced| forced == id);
        let state = match spec.offer(pairing) {
            Support::No(reason) => {
                debug!(path = %id, %reason, "not offered");
                PathState::NotOffered { reason }
            }
            Support::Yes if !policy.probe_all && (chosen.is_some() || !wanted) => PathState::Offered,
            Support::Yes => match attempt(pairing, id) {
                Ok(path) => {
                    let sync = path.sync();
                    if wanted && chosen.is_none() {
                        let why = why(policy, id, rank.order, &paths);
                        chosen = Some((id, path));
                        PathState::Chosen { sync, why }
                    } else {
                        PathState::Verified { sync }
                    }
                }
                Err(state) => {
                    warn!(path = %id, reason = state.detail(), "does not work");
                    state
                }
            },
        };
        paths.push(PathReport { id, kind: spec.kind, mechanism: spec.mechanism, state });
    }
    let report = ProbeReport {
        compute: compute.clone(),
        display: display.clone(),
        surface: *pairing.desc,
        order: rank.order,
        paths,
        lateness: Vec::new(),
        diagnoses: diagnose::pairing(compute, display),
    };
    Ok((report, chosen))
}

/// Opens and proves one path.
fn attempt(pairing: &Pairing<'_>, id: PathId) -> Result<OpenedPath, PathState> {
    let mut path = spec(id).open(pairing).map_err(|e| PathState::OpenFailed { reason: e.to_string() })?;
    verify(id, &mut path, pairing.backend.as_ref(), &pairing.layout()).map_err(|e| PathState::Rejected {
        reason: match e {
            Error::Rejected { mismatch, .. } => format!("verification found wrong pixels: {mismatch}"),
            other => other.to_string(),
        },
    })?;
    Ok(path)
}

fn why(policy: &Policy, id: PathId, order: &str, above: &[PathReport]) -> String {
    if policy.force.is_some() {
        return "forced by the caller".into();
    }
    if policy.prefer == Some(id) {
        return "preferred by the caller, or in use before a resize".into();
    }
    match above.len() {
        0 => format!("it ranks first and its pixels are right; order: {order}"),
        n => format!("its pixels are right, and the {n} ranked above it do not work here; order: {order}"),
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
                .filter(|p| p.id != forced && (p.state.works() || p.state == PathState::Offered))
                .map(|p| p.id.name())
                .collect();
            format!("{forced} was asked for, but {own}. Take one of: {}", others.join(", "))
        }
    };
    Error::NoPath { compute: report.compute.to_string(), display: report.display.to_string(), reason }
}
