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
        let pairing = self.pairing(pairing);
        let opening = stage!("open", path = %self.id, sync = self.sync.map(tracing::field::display));
        let mut path = spec(self.id).open(&pairing).map_err(|e| PathState::OpenFailed { reason: e.to_string() })?;
        drop(opening);
        verify(self.id, &mut path, pairing.backend.as_ref(), &pairing.layout()).map_err(|e| PathState::Rejected {
            reason: match e {
                Error::Rejected { mismatch, .. } => format!("verification found wrong pixels: {mismatch}"),
                other => other.to_string(),
            },
        })?;
        Ok(path)
    }
}
