//! What a link that opens another path knows already.

use super::report::ProbeReport;
use crate::devices::capability::SyncKind;
use crate::path::PathId;

/// What a link knows of its paths when it opens another.
#[derive(Default)]
pub(crate) struct Standing<'a> {
    /// Paths that failed before, each with its reason.
    pub demoted: &'a [(PathId, String)],
    /// The way in use, which is to be kept if it works.
    pub keep: Option<Keep>,
    /// How late the one showed that is left now.
    pub frames_behind: Option<usize>,
    /// Where costs were measured before: what was quicker is tried first.
    pub known: Option<&'a ProbeReport>,
}

/// A way in use.
#[derive(Clone, Copy)]
pub(crate) struct Keep {
    pub id: PathId,
    pub sync: SyncKind,
    pub frames_behind: usize,
}
