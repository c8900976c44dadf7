//! Result of an audit.

use serde::Serialize;
use std::fmt;
use std::ops::Range;

/// What an audit found: the frame that a display read, compared with the frame that the kernels had written.
///
/// Rows count in the order of the surface, from the top row of the part that the frame replaced. In a buffer, a row is
/// 4096 bytes.
///
/// ```
/// use interop_core::AuditVerdict;
///
/// assert!(AuditVerdict::Right.is_right());
/// let torn = AuditVerdict::Torn { by: 1, rows: vec![0..12, 40..52] };
/// assert_eq!(torn.to_string(), "torn: rows 0..12, 40..52 are stale by 1 frame");
/// assert_eq!(AuditVerdict::Stale { by: 3 }.to_string(), "stale by 3 frames");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditVerdict {
    /// The display read what the kernels wrote.
    Right,
    /// The display read an earlier frame.
    Stale {
        /// Number of frames between the earlier frame and the right one.
        by: u64,
    },
    /// The display read a mixture of the right frame and an earlier one.
    Torn {
        /// Number of frames between the earlier frame and the right one.
        by: u64,
        /// Rows with pixels of the earlier frame, to the nearest band.
        rows: Vec<Range<u32>>,
    },
    /// The display read something else.
    Wrong {
        /// Rows with wrong pixels, to the nearest band.
        rows: Vec<Range<u32>>,
    },
}

impl AuditVerdict {
    /// True where the display read the right frame.
    pub const fn is_right(&self) -> bool {
        matches!(self, Self::Right)
    }
}

impl fmt::Display for AuditVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames = |by: &u64| format!("{by} frame{}", if *by == 1 { "" } else { "s" });
        let named = |rows: &[Range<u32>]| rows.iter().map(|rows| format!("{rows:?}")).collect::<Vec<_>>().join(", ");
        match self {
            Self::Right => f.write_str("right"),
            Self::Stale { by } => write!(f, "stale by {}", frames(by)),
            Self::Torn { by, rows } => write!(f, "torn: rows {} are stale by {}", named(rows), frames(by)),
            Self::Wrong { rows } => write!(f, "wrong in rows {}", named(rows)),
        }
    }
}
