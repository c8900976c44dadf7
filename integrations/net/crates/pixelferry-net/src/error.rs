//! Errors, typed.

use pixelferry::Region;
use pixelferry_media::wire::WireError;
use pixelferry_rules::key::Keys;

/// Result of this crate's calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of the network, with a hint what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is invalid.
    #[error("{operation}: {problem}")]
    Invalid {
        /// The called function.
        operation: &'static str,
        /// Description of the problem.
        problem: String,
    },
    /// A message is invalid, or not for this scene.
    #[error("message refused: {0}")]
    Wire(#[from] WireError),
    /// Zenoh reported an error.
    #[error("{operation}: Zenoh reports: {reason}. {hint}")]
    Zenoh {
        /// Operation that failed.
        operation: &'static str,
        /// Zenoh's message.
        reason: String,
        /// Hint what to try.
        hint: &'static str,
    },
    /// An endpoint was reached, but refused this program.
    #[error(
        "Net::join: {endpoint} was reached, but refused this program, which connected {papers}. Do the protocol, the \
         certificates, the name and the password match at both ends?"
    )]
    Refused {
        /// The endpoint.
        endpoint: String,
        /// Credentials of this program, without secrets.
        papers: String,
    },
    /// A worker reclaimed a tile's shared memory before it was read.
    #[error("the tile {0} is gone: its worker reclaimed the shared memory before it was read; request it again")]
    Gone(Region),
    /// A display or a backend reported an error.
    #[error(transparent)]
    Pixelferry(#[from] pixelferry::Error),
    /// The gateway for browsers could not be opened.
    #[cfg(feature = "web")]
    #[error(transparent)]
    Web(#[from] pixelferry_media::web::Error),
}

impl Error {
    pub(crate) fn invalid(operation: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { operation, problem: problem.into() }
    }

    /// Makes the caller's error from what a codec does not support.
    pub(crate) fn from_packing(error: pixelferry::Error) -> Self {
        match error {
            pixelferry::Error::InvalidInput { operation, problem } => Self::Invalid { operation, problem },
            other => other.into(),
        }
    }

    /// For `map_err`.
    pub(crate) fn zenoh(operation: &'static str, hint: &'static str) -> impl FnOnce(zenoh::Error) -> Self {
        move |error| Self::Zenoh { operation, reason: error.to_string(), hint }
    }
}

/// Returns a scene's keys.
pub(crate) fn keys(scene: &str) -> Result<Keys> {
    Keys::new(scene).map_err(|problem| Error::invalid("scene", problem))
}

/// Hint for a failed call on an open session.
pub(crate) const CLOSED: &str = "Was the network closed? Join again.";
