//! Errors of a trace.

use std::io;
use std::path::PathBuf;

/// Reason why there is no trace, or only a part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be made or written.
    #[error("cannot write the trace to {}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Reason of the system.
        source: io::Error,
    },
    /// The program already listens to its own spans and events.
    #[error("this program has a subscriber of its spans already; add Trace::layer to that one instead: {0}")]
    Subscriber(String),
    /// A driver failed when it was asked for its times.
    #[error(transparent)]
    Device(#[from] pixelferry::Error),
}
