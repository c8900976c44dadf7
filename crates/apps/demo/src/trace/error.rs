//! Errors of a trace.

use std::io;
use std::path::PathBuf;

/// Reason why a trace is missing or incomplete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Creating or writing the file failed.
    #[error("cannot write the trace to {}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Reason of the system.
        source: io::Error,
    },
    /// The program already has a subscriber for its spans and events.
    #[error("this program already has a tracing subscriber; add Trace::layer to that one instead: {0}")]
    Subscriber(String),
    /// A driver failed to report its times.
    #[error(transparent)]
    Device(#[from] pixelferry::Error),
}
