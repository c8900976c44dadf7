//! Counts of audits.

use super::verdict::AuditVerdict;
use super::words::counted;
use serde::Serialize;
use std::fmt;

/// What the audits of a link have found so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// Number of frames that were right.
    pub right: u64,
    /// Number of frames that were not.
    pub wrong: u64,
    /// Number of frames whose audit was left out, because the devices had not finished the audits before.
    pub skipped: u64,
    /// Number of frames whose digests are on their way.
    pub under_way: u64,
    /// Number of the frame that was judged last, and the verdict.
    pub last: Option<(u64, AuditVerdict)>,
    /// Why frames are not audited, where they are not.
    pub absent: Option<String>,
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { right, wrong, skipped, last, absent, .. } = self;
        match (absent, last) {
            (Some(reason), _) => write!(f, "frames are not audited: {reason}"),
            (None, None) => f.write_str("no frame yet"),
            (None, Some((frame, verdict))) => {
                write!(f, "right in {}, wrong in {wrong}, {skipped} skipped; ", counted(*right, "frame"))?;
                write!(f, "frame {frame} is {verdict}")
            }
        }
    }
}
