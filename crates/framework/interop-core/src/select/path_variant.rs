//! Opening, verifying and timing one candidate.
//!
//! Candidates that this thread has verified completely, between a backend and a display that both still live, are
//! compared in only a few rows when they are opened again for a surface that is not larger.

use super::report::{PathCost, PathState};
use super::verify::{self, ProofExtent, next_nonce};
use crate::compute::ComputeBackend;
use crate::describe::PlainMutex;
use crate::describe::error::{Error, Result};
use crate::describe::panics::contained;
use crate::describe::pattern::Pattern;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::stage;
use crate::display::Display;
use crate::path::{OpenedPath, Pairing, PathId, PathSpec, SharingPath, pattern_frame};
use crate::tournament::{self, Clock, Contestant, TURN, Terms};
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// One path with one synchronisation of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathVariant {
    pub id: PathId,
    /// `None` selects the path's own synchronisation.
    pub sync: Option<SyncKind>,
}

impl fmt::Display for PathVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sync {
            None => write!(f, "{}", self.id),
            Some(sync) => write!(f, "{} by {sync}", self.id),
        }
    }
}

/// A path and synchronisation that can be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'p> {
    pub spec: &'p PathSpec,
    /// Synchronisation of the two sides; `None` selects the path's own.
    pub sync: Option<SyncKind>,
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.variant() == other.variant()
    }
}

impl Candidate<'_> {
    pub fn id(&self) -> PathId {
        self.spec.id
    }

    pub fn variant(&self) -> PathVariant {
        PathVariant { id: self.spec.id, sync: self.sync }
    }

    /// Returns the pairing with this candidate's synchronisation.
    pub fn pairing<'a>(&self, pairing: &Pairing<'a>) -> Pairing<'a> {
        Pairing { sync: self.sync.or(pairing.sync), ..*pairing }
    }

    /// Returns the path with the synchronisation that its sides then use, whether the candidate or the path sets it.
    pub fn settled(&self, pairing: &Pairing<'_>) -> PathVariant {
        PathVariant { sync: self.pairing(pairing).sync.or(self.spec.syncs.first().copied()), ..self.variant() }
    }

    /// True where this thread has verified it before.
    pub fn is_known(&self, pairing: &Pairing<'_>) -> bool {
        covers(pairing, self.settled(pairing))
    }

    /// Opens and verifies it. A candidate that this thread has verified before is compared in a few rows. It starts
    /// with one slot of memory where `frames_behind` is known, because that is measured with all slots.
    pub fn attempt(&self, pairing: &Pairing<'_>, frames_behind: Option<usize>) -> Result<OpenedPath, PathState> {
        let known = self.is_known(pairing);
        let is_settled = pairing.frames_behind == 0 || frames_behind.is_some();
        let behind = frames_behind.map_or(pairing.frames_behind, |known| known.min(pairing.frames_behind));
        let pairing = &Pairing { frames_behind: behind, ..*pairing };
        let now = if known && is_settled { pairing.with_one_piece() } else { *pairing };
        let mut path = self.open(&now)?;
        let compared = if known { ProofExtent::FewRows } else { ProofExtent::All };
        prove(self.id(), &now, &mut path, compared).inspect_err(|_| distrust(pairing.backend, pairing.display))?;
        Ok(path)
    }

    /// Opens the path.
    pub fn open(&self, pairing: &Pairing<'_>) -> Result<OpenedPath, PathState> {
        let _stage = stage!("open", path = %self.id(), sync = self.sync.map(tracing::field::display));
        contained(|| self.spec.open(&self.pairing(pairing)))
            .map_err(|e| PathState::OpenFailed { reason: e.to_string() })
    }
}

/// Compares the pixels of an opened path.
pub(super) fn prove(
    id: PathId,
    pairing: &Pairing<'_>,
    path: &mut OpenedPath,
    compared: ProofExtent,
) -> Result<(), PathState> {
    contained(|| verify::compare(id, path, pairing.backend.as_ref(), &pairing.layout(), compared))
        .map_err(|error| disproved(error, pairing))
}

/// Returns the state of a path whose verification ended with `error`.
pub(super) fn disproved(error: Error, pairing: &Pairing<'_>) -> PathState {
    PathState::Rejected {
        reason: match error.with_states(|| pairing.display.unusual_states()) {
            Error::Rejected { mismatch, .. } => format!("verification found wrong pixels: {mismatch}"),
            other => other.to_string(),
        },
    }
}

/// An opened candidate and its cost.
pub(super) type Entry = tournament::Entry<OpenedVariant>;

/// An opened candidate.
pub(super) struct OpenedVariant {
    pub variant: PathVariant,
    pub path: OpenedPath,
    /// True where its pixels were compared.
    pub proved: bool,
}

impl OpenedVariant {
    /// Adds it to the timed candidates. A verified one has already run.
    pub fn entry(variant: PathVariant, path: OpenedPath, proved: bool, pairing: &Pairing<'_>) -> Entry {
        let (slots, frames_behind) = (path.slots(), pairing.frames_behind);
        // For a pipelined path, a turn is one run.
        let turn = if frames_behind > 0 { Duration::ZERO } else { TURN };
        // Sizes that overflow were rejected before.
        let bytes = pairing.desc.byte_len().unwrap_or(usize::MAX).saturating_mul(slots);
        Entry::new(Self { variant, path, proved }, Terms { turn, frames_behind, slots, bytes }, proved)
    }
}

impl Entry {
    /// Returns the statistics of its turns.
    pub fn measured(&self) -> PathCost {
        let path = &self.who.path;
        PathCost::of(path.sync(), path.frames_behind(), self.samples_us().to_vec())
    }
}

impl fmt::Display for OpenedVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.variant.fmt(f)
    }
}

impl Contestant for OpenedVariant {
    type Course<'a> = Pairing<'a>;

    fn warm(&mut self, pairing: &Pairing<'_>, _: &Clock) -> Result<()> {
        let (layout, path) = (pairing.layout(), &mut self.path);
        let pattern = Pattern::flat(&layout.whole()?, next_nonce());
        pattern_frame(path, pairing.backend.as_ref(), &layout, &pattern)?;
        // A pipelined path then has no frame to draw from before.
        path.flush()?;
        pairing.display.draw_offscreen(path.surface())?;
        pairing.display.finish()
    }

    fn sample(&mut self, pairing: &Pairing<'_>, clock: &Clock, frames: usize) -> Result<f64> {
        time_run(&mut self.path, pairing, clock, frames)
    }
}

/// Returns microseconds a frame over a run of `frames`, until the display has drawn the last.
pub(super) fn time_run(path: &mut OpenedPath, pairing: &Pairing<'_>, clock: &Clock, frames: usize) -> Result<f64> {
    // Writes one colour everywhere, under the surface's rule for unwritten pixels.
    let layout = pairing.layout();
    let whole = layout.whole()?;
    let start = clock.now();
    for _ in 0..frames {
        pattern_frame(path, pairing.backend.as_ref(), &layout, &Pattern::flat(&whole, next_nonce()))?;
        pairing.display.draw_offscreen(path.surface())?;
    }
    if path.frames_behind() > 0 {
        path.flush()?;
        pairing.display.draw_offscreen(path.surface())?;
    }
    pairing.display.finish()?;
    Ok(clock.since(start).as_secs_f64() * 1e6 / frames as f64)
}

/// Most proofs that are remembered, for all open pairs of the program; the oldest are dropped first.
const MOST_PROVED: usize = 4096;

static PROVED: PlainMutex<Vec<ProofRecord>> = PlainMutex::new(Vec::new());

struct ProofRecord {
    backend: Weak<dyn ComputeBackend>,
    display: Weak<dyn Display>,
    variant: PathVariant,
    /// The largest surface that was compared completely.
    desc: SurfaceDesc,
}

impl ProofRecord {
    fn is_between(&self, backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) -> bool {
        // While a weak reference exists, no other object gets the address.
        std::ptr::addr_eq(self.backend.as_ptr(), Arc::as_ptr(backend))
            && std::ptr::addr_eq(self.display.as_ptr(), Arc::as_ptr(display))
    }
}

/// True where the candidate was verified between the two for a surface that differs only in size and is not smaller.
fn covers(pairing: &Pairing<'_>, variant: PathVariant) -> bool {
    let of_both = |proof: &&ProofRecord| proof.variant == variant && proof.is_between(pairing.backend, pairing.display);
    is_of_the_table(pairing, variant)
        && PROVED.lock().iter().filter(of_both).any(|proof| pairing.desc.is_inside(&proof.desc))
}

/// Remembers that the pixels of a candidate were compared completely.
pub(super) fn remember_proof(pairing: &Pairing<'_>, variant: PathVariant) {
    if !is_of_the_table(pairing, variant) || covers(pairing, variant) {
        return;
    }
    let (backend, display) = (Arc::downgrade(pairing.backend), Arc::downgrade(pairing.display));
    let proof = ProofRecord { backend, display, variant, desc: *pairing.desc };
    let mut proofs = PROVED.lock();
    proofs.retain(|proof| proof.backend.strong_count() > 0 && proof.display.strong_count() > 0);
    if proofs.len() == MOST_PROVED {
        proofs.remove(0);
    }
    proofs.push(proof);
}

/// Forgets the proofs between the two, because a failure occurred or everything is to be tried again.
pub(crate) fn distrust(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>) {
    PROVED.lock().retain(|proof| !proof.is_between(backend, display));
}

/// A program's own paths may differ under the same name, and an engine's objects are compared as they are.
fn is_of_the_table(pairing: &Pairing<'_>, variant: PathVariant) -> bool {
    pairing.object.is_none() && PathId::ALL.contains(&variant.id)
}
