//! Opening and proving one way.

use crate::capability::SyncKind;
use crate::error::Error;
use crate::path::{OpenedPath, Pairing, PathId, spec};
use crate::report::PathState;
use crate::timeline::stage;
use crate::verify::verify;

/// One path with one way of keeping the two sides apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub id: PathId,
    /// `None`: the path's own.
    pub sync: Option<SyncKind>,
}

impl Candidate {
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
        let _stage = stage!("open", path = %self.id, sync = self.sync.map(tracing::field::display));
        spec(self.id).open(&self.pairing(pairing)).map_err(|e| PathState::OpenFailed { reason: e.to_string() })
    }

    /// Compares its pixels.
    pub fn prove(&self, pairing: &Pairing<'_>, path: &mut OpenedPath) -> Result<(), PathState> {
        verify(self.id, path, pairing.backend.as_ref(), &pairing.layout()).map_err(|e| PathState::Rejected {
            reason: match e {
                Error::Rejected { mismatch, .. } => format!("verification found wrong pixels: {mismatch}"),
                other => other.to_string(),
            },
        })
    }
}
