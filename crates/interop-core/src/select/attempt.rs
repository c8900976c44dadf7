//! Opening and proving one way.

use super::report::PathState;
use super::verify::verify;
use crate::describe::error::{Error, Result};
use crate::describe::panics;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing, PathId, PathSpec};

/// One path with one way of keeping the two sides apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'p> {
    pub spec: &'p PathSpec,
    /// `None`: the path's own.
    pub sync: Option<SyncKind>,
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.id(), self.sync) == (other.id(), other.sync)
    }
}

impl Candidate<'_> {
    pub fn id(&self) -> PathId {
        self.spec.id
    }

    /// The pairing with this candidate's way of taking turns.
    pub fn pairing<'a>(&self, pairing: &Pairing<'a>) -> Pairing<'a> {
        Pairing { sync: self.sync.or(pairing.sync), ..*pairing }
    }

    /// Opens and proves it.
    pub fn attempt(&self, pairing: &Pairing<'_>) -> Result<OpenedPath, PathState> {
        let mut path = self.open(pairing)?;
        self.prove(pairing, &mut path)?;
        Ok(path)
    }

    /// Makes its resources.
    pub fn open(&self, pairing: &Pairing<'_>) -> Result<OpenedPath, PathState> {
        let _stage = stage!("open", path = %self.id(), sync = self.sync.map(tracing::field::display));
        contained(|| self.spec.open(&self.pairing(pairing)))
            .map_err(|e| PathState::OpenFailed { reason: e.to_string() })
    }

    /// Compares its pixels.
    pub fn prove(&self, pairing: &Pairing<'_>, path: &mut OpenedPath) -> Result<(), PathState> {
        let proof = || verify(self.id(), path, pairing.backend.as_ref(), &pairing.layout());
        contained(proof).map_err(|e| PathState::Rejected {
            reason: match e {
                Error::Rejected { mismatch, .. } => format!("verification found wrong pixels: {mismatch}"),
                other => other.to_string(),
            },
        })
    }
}

/// Backends and displays may be others' code, and this is where it runs first: one that panics is no way for frames, and the
/// others are tried.
pub(super) fn contained<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    panics::as_error("the backend or the display", f)
}
