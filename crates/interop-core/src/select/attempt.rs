//! Opening and proving one way.

use super::report::PathState;
use super::verify::verify;
use crate::describe::error::{Error, Result};
use crate::describe::panics;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::stage;
use crate::path::{OpenedPath, Pairing, PathId, PathSpec};
use std::fmt;

/// One path with one way of keeping the two sides apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub id: PathId,
    /// `None`: the path's own.
    pub sync: Option<SyncKind>,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sync {
            None => write!(f, "{}", self.id),
            Some(sync) => write!(f, "{} by {sync}", self.id),
        }
    }
}

/// A way that can be opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'p> {
    pub spec: &'p PathSpec,
    /// Synchronisation of the two sides; `None`: the path's own default.
    pub sync: Option<SyncKind>,
}

impl PartialEq for Candidate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.way() == other.way()
    }
}

impl Candidate<'_> {
    pub fn id(&self) -> PathId {
        self.spec.id
    }

    pub fn way(&self) -> Way {
        Way { id: self.spec.id, sync: self.sync }
    }

    /// The pairing with this candidate's way of taking turns.
    pub fn pairing<'a>(&self, pairing: &Pairing<'a>) -> Pairing<'a> {
        Pairing { sync: self.sync.or(pairing.sync), ..*pairing }
    }

    /// Opens and proves it.
    pub fn attempt(&self, pairing: &Pairing<'_>) -> Result<OpenedPath, PathState> {
        let mut path = self.open(pairing)?;
        prove(self.id(), pairing, &mut path)?;
        Ok(path)
    }

    /// Makes its resources.
    pub fn open(&self, pairing: &Pairing<'_>) -> Result<OpenedPath, PathState> {
        let _stage = stage!("open", path = %self.id(), sync = self.sync.map(tracing::field::display));
        contained(|| self.spec.open(&self.pairing(pairing)))
            .map_err(|e| PathState::OpenFailed { reason: e.to_string() })
    }
}

/// Compares the pixels of a path that was opened.
pub(super) fn prove(id: PathId, pairing: &Pairing<'_>, path: &mut OpenedPath) -> Result<(), PathState> {
    contained(|| verify(id, path, pairing.backend.as_ref(), &pairing.layout())).map_err(|error| disproved(&error))
}

/// Returns what a proof that ended by `error` says of a path.
pub(super) fn disproved(error: &Error) -> PathState {
    PathState::Rejected {
        reason: match error {
            Error::Rejected { mismatch, .. } => format!("verification found wrong pixels: {mismatch}"),
            other => other.to_string(),
        },
    }
}

/// Backends and displays may be others' code, and this is where it runs first: one that panics is no way for frames, and the
/// others are tried.
pub(super) fn contained<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    panics::as_error("the backend or the display", f)
}
