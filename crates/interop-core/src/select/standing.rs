//! Knowledge of a link that opens another path.

use super::report::ProbeReport;
use crate::devices::capability::SyncKind;
use crate::path::PathId;

/// Knowledge that a link has of its paths when it opens another.
#[derive(Default)]
pub(crate) struct Standing<'a> {
    /// Paths that failed before, each with its reason.
    pub demoted: &'a [(PathId, String)],
    /// The way in use, which is to be kept if it works.
    pub keep: Option<Keep>,
    /// Number of frames behind of the path that is left now.
    pub frames_behind: Option<usize>,
    /// Costs measured earlier, if any: quicker paths are tried first.
    pub known: Option<&'a ProbeReport>,
}

/// A way in use.
#[derive(Clone, Copy)]
pub(crate) struct Keep {
    pub id: PathId,
    pub sync: SyncKind,
    pub frames_behind: usize,
}
