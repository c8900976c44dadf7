//! Whether an API can be used, with a reason and a hint, as data.

use interop_core::Error;
use serde::Serialize;

/// Whether an API can be used on this machine.
///
/// ```
/// use pixelferry::{Error, report::Availability};
///
/// let missing = Error::Unavailable { what: "OpenCL".into(), reason: "no ICD".into(), hint: "Install PoCL.".into() };
/// let expected = Availability::Unavailable { reason: "no ICD".into(), hint: "Install PoCL.".into() };
/// assert_eq!(Availability::from(&missing), expected);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Availability {
    /// It can be used.
    Available,
    /// It cannot be used.
    Unavailable {
        /// Reason why it counts as unavailable.
        reason: String,
        /// Hint what the user can do about it; may be empty.
        hint: String,
    },
}

impl From<&Error> for Availability {
    fn from(e: &Error) -> Self {
        match e {
            Error::Unavailable { reason, hint, .. } => Self::Unavailable { reason: reason.clone(), hint: hint.clone() },
            other => Self::Unavailable { reason: other.to_string(), hint: String::new() },
        }
    }
}

/// Returns the error for a part of this library whose `feature` is off.
#[allow(dead_code)] // where all are
pub(crate) fn not_built_in<T>(what: &str, feature: &str) -> interop_core::Result<T> {
    Err(Error::unavailable(
        what,
        "this program was built without it",
        format!(
            "Write `features = [\"{feature}\"]` for pixelferry in Cargo.toml, or choose another backend or display."
        ),
    ))
}
