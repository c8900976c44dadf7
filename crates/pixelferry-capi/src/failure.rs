//! Failures of calls, and the status for each.

use crate::abi::*;
use pixelferry::{Error, SaveError};

/// A failure before it is a status and a message.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A value of the caller's.
    #[error("{0}")]
    Argument(String),
    /// The value is no valid handle.
    #[error("{0}")]
    Handle(String),
    /// A handle of another thread.
    #[error(
        "this {0} belongs to another thread; displays, links, frames and memories are used and freed on the thread that made them"
    )]
    Thread(&'static str),
    /// A link whose frame is open.
    #[error("{0}")]
    Busy(&'static str),
    /// A function of the caller's said so.
    #[error("the function that was given ended with {0}; nothing of this frame is shown")]
    Callback(i32),
    /// An error that pixelferry reported.
    #[error(transparent)]
    Core(#[from] Error),
    /// A picture could not be saved.
    #[error(transparent)]
    Save(SaveError),
    /// A report could not be written.
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Result with [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Frame(error) => Self::Core(error),
            other => Self::Save(other),
        }
    }
}

impl Failure {
    /// A value of the caller's, and what it should be.
    pub fn argument(problem: impl Into<String>) -> Self {
        Self::Argument(problem.into())
    }

    /// Refuses what needs a feature that this library was built without.
    #[allow(dead_code)] // where all are built in
    pub fn not_built_in(feature: &str) -> Self {
        Self::Core(Error::Unavailable {
            what: feature.into(),
            reason: "this library was built without it".into(),
            hint: format!("Build pixelferry-capi with the feature `{feature}`."),
        })
    }

    /// Tells how C sees it.
    pub fn status(&self) -> pf_status {
        match self {
            Self::Argument(_) => PF_ERROR_ARGUMENT,
            Self::Handle(_) => PF_ERROR_HANDLE,
            Self::Thread(_) => PF_ERROR_THREAD,
            Self::Busy(_) => PF_ERROR_BUSY,
            Self::Callback(_) => PF_ERROR_CALLBACK,
            Self::Core(error) => status_of(error),
            Self::Save(_) => PF_ERROR_FILE,
            Self::Json(_) => PF_ERROR_OTHER,
        }
    }
}

fn status_of(error: &Error) -> pf_status {
    match error {
        Error::InvalidInput { .. } => PF_ERROR_ARGUMENT,
        Error::Unavailable { .. } => PF_ERROR_UNAVAILABLE,
        Error::Unsupported { .. } => PF_ERROR_UNSUPPORTED,
        Error::Driver(_) => PF_ERROR_DRIVER,
        Error::KernelBuild { .. } => PF_ERROR_KERNEL_BUILD,
        Error::KernelFailed { .. } => PF_ERROR_KERNEL_FAILED,
        Error::Foreign { .. } => PF_ERROR_FOREIGN,
        Error::WrongContext { .. } => PF_ERROR_CONTEXT,
        Error::Rejected { .. } => PF_ERROR_REJECTED,
        Error::Panicked { .. } => PF_ERROR_PANIC,
        Error::NothingShown => PF_ERROR_NOTHING_SHOWN,
        Error::Paused => PF_ERROR_PAUSED,
        Error::NoPath { .. } => PF_ERROR_NO_PATH,
        // New ones of the core have no code of their own until this table has them.
        _ => PF_ERROR_OTHER,
    }
}

/// The name of a status, as the header has it.
pub fn name(status: pf_status) -> &'static std::ffi::CStr {
    match status {
        PF_OK => c"PF_OK",
        PF_ERROR_ARGUMENT => c"PF_ERROR_ARGUMENT",
        PF_ERROR_HANDLE => c"PF_ERROR_HANDLE",
        PF_ERROR_THREAD => c"PF_ERROR_THREAD",
        PF_ERROR_BUSY => c"PF_ERROR_BUSY",
        PF_ERROR_CALLBACK => c"PF_ERROR_CALLBACK",
        PF_ERROR_UNAVAILABLE => c"PF_ERROR_UNAVAILABLE",
        PF_ERROR_UNSUPPORTED => c"PF_ERROR_UNSUPPORTED",
        PF_ERROR_DRIVER => c"PF_ERROR_DRIVER",
        PF_ERROR_KERNEL_BUILD => c"PF_ERROR_KERNEL_BUILD",
        PF_ERROR_KERNEL_FAILED => c"PF_ERROR_KERNEL_FAILED",
        PF_ERROR_FOREIGN => c"PF_ERROR_FOREIGN",
        PF_ERROR_CONTEXT => c"PF_ERROR_CONTEXT",
        PF_ERROR_REJECTED => c"PF_ERROR_REJECTED",
        PF_ERROR_NOTHING_SHOWN => c"PF_ERROR_NOTHING_SHOWN",
        PF_ERROR_PAUSED => c"PF_ERROR_PAUSED",
        PF_ERROR_NO_PATH => c"PF_ERROR_NO_PATH",
        PF_ERROR_FILE => c"PF_ERROR_FILE",
        PF_ERROR_PANIC => c"PF_ERROR_PANIC",
        PF_ERROR_OTHER => c"PF_ERROR_OTHER",
        _ => c"no status of pixelferry",
    }
}
