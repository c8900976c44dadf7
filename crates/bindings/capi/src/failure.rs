//! Failures of calls, and the status for each.

use crate::abi::*;
use pixelferry::{Error, SaveError};
use std::sync::{Arc, Mutex};

/// A failure before it becomes a status and a message.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An argument is invalid.
    #[error("{0}")]
    Argument(String),
    /// The handle is invalid.
    #[error("{0}")]
    Handle(String),
    /// The handle belongs to another thread.
    #[error(
        "this {0} belongs to another thread; use and free displays, links, frames and memories on the thread that made \
         them"
    )]
    Thread(&'static str),
    /// The object is in use, for example a link with an open frame.
    #[error("{0}")]
    Busy(&'static str),
    /// A function of the caller returned an error.
    #[error("the function returned {0}; nothing of this frame is shown")]
    Callback(i32),
    /// An error of pixelferry.
    #[error(transparent)]
    Core(#[from] Error),
    /// Saving a picture failed.
    #[error(transparent)]
    Save(SaveError),
    /// Writing a report failed.
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Result with [`Failure`].
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why a caller's function refused a frame, beside the error that represents it on the way back.
pub type Refusal = Arc<Mutex<Option<Failure>>>;

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Frame(error) => Self::Core(error),
            other => Self::Save(other),
        }
    }
}

impl Failure {
    /// The caller's argument is invalid; `problem` also says what it should be.
    pub fn argument(problem: impl Into<String>) -> Self {
        Self::Argument(problem.into())
    }

    /// Refuses a call that needs a missing feature.
    #[allow(dead_code)] // unused if all are built in
    pub fn not_built_in(feature: &str) -> Self {
        Self::Core(Error::Unavailable {
            what: feature.into(),
            reason: "this library was built without it".into(),
            hint: format!("Build pixelferry-capi with the feature `{feature}`."),
        })
    }

    /// Refuses calls that need streams.
    #[allow(dead_code)] // unused if they are built in
    pub fn no_streams() -> Self {
        if cfg!(target_os = "linux") {
            return Self::not_built_in("stream");
        }
        Self::Core(Error::Unavailable {
            what: "streams".into(),
            reason: "frames go to other processes on Linux only".into(),
            hint: "Save pictures, or serve the link to a browser.".into(),
        })
    }

    /// Returns the status for C.
    pub fn status(&self) -> pf_status {
        match self {
            Self::Argument(_) => PIXELFERRY_ERROR_ARGUMENT,
            Self::Handle(_) => PIXELFERRY_ERROR_HANDLE,
            Self::Thread(_) => PIXELFERRY_ERROR_THREAD,
            Self::Busy(_) => PIXELFERRY_ERROR_BUSY,
            Self::Callback(_) => PIXELFERRY_ERROR_CALLBACK,
            Self::Core(error) => status_of(error),
            Self::Save(_) => PIXELFERRY_ERROR_FILE,
            Self::Json(_) => PIXELFERRY_ERROR_OTHER,
        }
    }
}

fn status_of(error: &Error) -> pf_status {
    match error {
        Error::InvalidInput { .. } => PIXELFERRY_ERROR_ARGUMENT,
        Error::Unavailable { .. } => PIXELFERRY_ERROR_UNAVAILABLE,
        Error::Unsupported { .. } => PIXELFERRY_ERROR_UNSUPPORTED,
        Error::Driver(_) => PIXELFERRY_ERROR_DRIVER,
        Error::KernelBuild { .. } => PIXELFERRY_ERROR_KERNEL_BUILD,
        Error::KernelFailed { .. } => PIXELFERRY_ERROR_KERNEL_FAILED,
        Error::Foreign { .. } => PIXELFERRY_ERROR_FOREIGN,
        Error::WrongContext { .. } => PIXELFERRY_ERROR_CONTEXT,
        Error::Rejected { .. } => PIXELFERRY_ERROR_REJECTED,
        Error::Panicked { .. } => PIXELFERRY_ERROR_PANIC,
        Error::NothingShown => PIXELFERRY_ERROR_NOTHING_SHOWN,
        Error::InTarget => PIXELFERRY_ERROR_IN_TARGET,
        Error::Paused => PIXELFERRY_ERROR_PAUSED,
        Error::NoPath { .. } => PIXELFERRY_ERROR_NO_PATH,
        // New errors of the core have no status until this table has them.
        _ => PIXELFERRY_ERROR_OTHER,
    }
}

/// Returns the name of a status in the header.
pub fn name(status: pf_status) -> &'static std::ffi::CStr {
    match status {
        PIXELFERRY_OK => c"PIXELFERRY_OK",
        PIXELFERRY_ERROR_ARGUMENT => c"PIXELFERRY_ERROR_ARGUMENT",
        PIXELFERRY_ERROR_HANDLE => c"PIXELFERRY_ERROR_HANDLE",
        PIXELFERRY_ERROR_THREAD => c"PIXELFERRY_ERROR_THREAD",
        PIXELFERRY_ERROR_BUSY => c"PIXELFERRY_ERROR_BUSY",
        PIXELFERRY_ERROR_CALLBACK => c"PIXELFERRY_ERROR_CALLBACK",
        PIXELFERRY_ERROR_UNAVAILABLE => c"PIXELFERRY_ERROR_UNAVAILABLE",
        PIXELFERRY_ERROR_UNSUPPORTED => c"PIXELFERRY_ERROR_UNSUPPORTED",
        PIXELFERRY_ERROR_DRIVER => c"PIXELFERRY_ERROR_DRIVER",
        PIXELFERRY_ERROR_KERNEL_BUILD => c"PIXELFERRY_ERROR_KERNEL_BUILD",
        PIXELFERRY_ERROR_KERNEL_FAILED => c"PIXELFERRY_ERROR_KERNEL_FAILED",
        PIXELFERRY_ERROR_FOREIGN => c"PIXELFERRY_ERROR_FOREIGN",
        PIXELFERRY_ERROR_CONTEXT => c"PIXELFERRY_ERROR_CONTEXT",
        PIXELFERRY_ERROR_REJECTED => c"PIXELFERRY_ERROR_REJECTED",
        PIXELFERRY_ERROR_NOTHING_SHOWN => c"PIXELFERRY_ERROR_NOTHING_SHOWN",
        PIXELFERRY_ERROR_PAUSED => c"PIXELFERRY_ERROR_PAUSED",
        PIXELFERRY_ERROR_NO_PATH => c"PIXELFERRY_ERROR_NO_PATH",
        PIXELFERRY_ERROR_FILE => c"PIXELFERRY_ERROR_FILE",
        PIXELFERRY_ERROR_PANIC => c"PIXELFERRY_ERROR_PANIC",
        PIXELFERRY_ERROR_OTHER => c"PIXELFERRY_ERROR_OTHER",
        PIXELFERRY_ERROR_IN_TARGET => c"PIXELFERRY_ERROR_IN_TARGET",
        _ => c"unknown status",
    }
}

/// Functions of a part that is not built in: each fails with this error.
#[allow(unused_macros)] // unused if all are built in
macro_rules! absent {
    ($error:expr; $([$($unsafe:tt)?] $name:ident($($arg:ty),*) -> $value:ty;)*) => {$(
        pub $($unsafe)? fn $name($(_: $arg),*) -> Result<$value> {
            Err($error)
        }
    )*};
}
#[allow(unused_imports)] // unused if all are built in
pub(crate) use absent;
