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
    /// The caller gave something that cannot be.
    #[error("{operation}: {problem}")]
    Invalid {
        /// The call.
        operation: &'static str,
        /// Problem of the value.
        problem: String,
    },
    /// A message that is not part of this protocol, or not for this scene.
    #[error("message refused: {0}")]
    Wire(#[from] WireError),
    /// Zenoh reported an error.
    #[error("{operation}: Zenoh says: {reason}. {hint}")]
    Zenoh {
        /// Operation that failed.
        operation: &'static str,
        /// Zenoh's words.
        reason: String,
        /// Hint what to try.
        hint: &'static str,
    },
    /// Somebody listens at an endpoint, but did not let this program in.
    #[error(
        "Net::join: somebody listens at {endpoint}, but did not let in this program, which came {papers}. \
         Do the protocol, the certificates, the name and the password fit both ends?"
    )]
    Refused {
        /// The endpoint.
        endpoint: String,
        /// Credentials that this program showed, without secrets.
        papers: String,
    },
    /// A tile's shared memory was taken back by its worker before it was read.
    #[error("the tile {0} is gone: its worker took the shared memory back before it was read; ask for it again")]
    Gone(Region),
    /// A display or a backend reported an error.
    #[error(transparent)]
    Pixelferry(#[from] pixelferry::Error),
    /// There is no gateway for browsers.
    #[cfg(feature = "web")]
    #[error(transparent)]
    Web(#[from] pixelferry_media::web::Error),
}

impl Error {
    pub(crate) fn invalid(operation: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { operation, problem: problem.into() }
    }

    /// Blames the caller for what a codec does not take.
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

/// A scene's keys.
pub(crate) fn keys(scene: &str) -> Result<Keys> {
    Keys::new(scene).map_err(|problem| Error::invalid("scene", problem))
}

/// Hint for a failed call on an open session.
pub(crate) const CLOSED: &str = "Was the network closed? Join again.";
