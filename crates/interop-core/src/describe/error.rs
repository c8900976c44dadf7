//! The one error type of the traits in this crate.

use super::forks::is_forked;
use super::mismatch::Mismatch;
use super::path_id::PathId;
use super::threads::SignalsBlocked;
use std::fmt;

/// Result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: the problem, the device that it occurred on, and a hint what to try.
///
/// `Debug` gives the same text as `Display`: it is what `fn main() -> Result<(), Error>` prints.
///
/// ```
/// use interop_core::{Error, PixelFormat};
///
/// let error = "rgb9".parse::<PixelFormat>().err();
/// match &error {
///     Some(Error::InvalidInput { operation, problem }) => println!("{operation} was given {problem}"),
///     Some(Error::Unavailable { hint, .. }) => println!("{hint}"),
///     other => println!("{other:?}"),
/// }
/// // The text names what was wrong, and what would be right.
/// assert!(error.as_ref().is_some_and(|e| e.to_string().contains("rgb9")));
/// assert!(error.is_some_and(|e| format!("{e:?}") == e.to_string()));
/// ```
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A library, driver, device or feature is not there. Nothing was changed.
    #[error("{what} is not available: {reason}. {hint}")]
    Unavailable {
        /// The thing that is missing, e.g. `OpenCL`.
        what: String,
        /// Reason why it counts as missing.
        reason: String,
        /// Hint what the user can do about it.
        hint: String,
    },
    /// The caller's values cannot be used. Nothing was changed.
    #[error("{}{problem}", before(operation, ": "))]
    InvalidInput {
        /// The call that refused.
        operation: &'static str,
        /// The wrong value, and what it should have been.
        problem: String,
    },
    /// The device cannot do this, whatever the arguments.
    #[error("{}not supported by {device}: {reason}", before(operation, " is "))]
    Unsupported {
        /// The call that refused.
        operation: &'static str,
        /// Device name.
        device: String,
        /// The limit or missing extension.
        reason: String,
    },
    /// A driver call failed.
    #[error(transparent)]
    Driver(Box<DriverError>),
    /// A kernel, or a program of several, did not compile or link; the log is the driver's own.
    #[error("{} did not build on {device}:\n{log}", what_was_built(kernel))]
    KernelBuild {
        /// Kernel name; empty for a program, which may have several kernels.
        kernel: String,
        /// Device name.
        device: String,
        /// Compiler output.
        log: String,
    },
    /// A kernel of the user's panicked or reported a failure while it ran.
    #[error("kernel '{kernel}' failed on {device}: {reason}")]
    KernelFailed {
        /// Kernel name.
        kernel: String,
        /// Device name.
        device: String,
        /// Panic message or the kernel's own error.
        reason: String,
    },
    /// An object of one backend or display was given to another.
    #[error(
        "{}this {object} belongs to another device or context than {device}; create it there",
        before(operation, ": ")
    )]
    Foreign {
        /// The call that refused.
        operation: &'static str,
        /// Kind of object: kernel, memory, surface, staging block.
        object: &'static str,
        /// The device that was asked.
        device: String,
    },
    /// The display's context is not current on this thread, so no call was made.
    #[error(
        "{}the context of {device} is not current on this thread; make it current first \
         (a context can be current on one thread at a time)",
        before(operation, ": ")
    )]
    WrongContext {
        /// The call that refused.
        operation: &'static str,
        /// Display name.
        device: String,
    },
    /// An operation was not started, or its event was failed or given up by who should have completed it.
    #[error("the operation did not run: {reason}")]
    EventFailed {
        /// Reason; if another operation failed, that one's error.
        reason: String,
    },
    /// A path ran without an error but the pixels that came out are not those that went in.
    #[error("path {path} was rejected by verification: {mismatch}")]
    Rejected {
        /// The path.
        path: PathId,
        /// First difference.
        mismatch: Mismatch,
    },
    /// Code that a program gave (a path, a backend, a display) panicked.
    #[error("{what} panicked: {reason}")]
    Panicked {
        /// Name of the code that panicked.
        what: String,
        /// Message of the panic.
        reason: String,
    },
    /// No frame has been finished yet, so there is nothing to show.
    #[error("nothing to show yet: no frame of this link has been finished; finish one, then draw")]
    NothingShown,
    /// The newest frame went straight into its target ([`crate::Link::show`]), so that no surface has it.
    #[error(
        "the newest frame was stored into its target, and no surface has it: read the target, or finish a whole frame first"
    )]
    InTarget,
    /// The link was resized to 0x0, as a minimised window is.
    #[error("the link is paused, as it was resized to 0x0; resize it to a size before the next frame")]
    Paused,
    /// No path works between the two sides, or the one asked for does not.
    #[error("no usable path from {compute} to {display}: {reason}")]
    NoPath {
        /// Compute device.
        compute: String,
        /// Display device.
        display: String,
        /// Each path with its reason, or the alternatives to the one asked for.
        reason: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of a call and what follows it; nothing where an error names no call.
fn before(operation: &str, then: &str) -> String {
    if operation.is_empty() { String::new() } else { format!("{operation}{then}") }
}

fn what_was_built(kernel: &str) -> String {
    if kernel.is_empty() { "the program".into() } else { format!("kernel '{kernel}'") }
}

/// A failed driver call, with all that is known of it.
///
/// ```
/// use interop_core::{DriverError, Error};
///
/// let failed = DriverError::new("clCreateBuffer", "GPU 0", -61, "CL_INVALID_BUFFER_SIZE");
/// let error = Error::from(failed.with_hint("Use a smaller surface."));
/// let text = "clCreateBuffer failed on GPU 0: CL_INVALID_BUFFER_SIZE (-61). Use a smaller surface.";
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "{} failed on {device}: {code_name} ({code}).{}{hint}",
    if .operation.is_empty() { "a call" } else { .operation },
    if .hint.is_empty() { "" } else { " " }
)]
#[non_exhaustive]
pub struct DriverError {
    /// The API function, e.g. `clCreateBuffer`; the call of this crate where an API names none.
    pub operation: &'static str,
    /// Device name.
    pub device: String,
    /// The driver's code.
    pub code: i64,
    /// Its name in the specification.
    pub code_name: String,
    /// Hint what the user can try; may be empty.
    pub hint: String,
}

impl DriverError {
    /// That `operation` failed with this code on this device, without a hint.
    pub fn new(operation: &'static str, device: impl Into<String>, code: i64, code_name: impl Into<String>) -> Self {
        let (device, code_name) = (device.into(), code_name.into());
        Self { operation, device, code, code_name, hint: String::new() }
    }

    /// Sets the hint: what the user can try.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }
}

impl From<DriverError> for Error {
    fn from(e: DriverError) -> Self {
        Self::Driver(Box::new(e))
    }
}

impl Error {
    /// Refuses what a process cannot use that was forked from one with open drivers or streams.
    pub fn forked(what: &str) -> Self {
        Self::Unavailable {
            what: what.into(),
            reason: "this process was forked from one that had opened drivers or streams, whose threads did not come along".into(),
            hint: "Start the process instead of forking it (in Python by multiprocessing.get_context(\"spawn\")), or fork before \
                   anything is opened."
                .into(),
        }
    }

    /// Shorthand for [`Error::InvalidInput`].
    pub fn invalid(operation: &'static str, problem: impl Into<String>) -> Self {
        Self::InvalidInput { operation, problem: problem.into() }
    }

    /// Adds what a display says of its state, where pixels were wrong.
    pub(crate) fn with_states(mut self, states: impl FnOnce() -> Vec<String>) -> Self {
        if let Self::Rejected { mismatch, .. } = &mut self {
            mismatch.unusual_states = states();
        }
        self
    }

    /// [`Error::InvalidInput`] of a call that its front names ([`call`]).
    pub fn refused(problem: impl Into<String>) -> Self {
        Self::invalid("", problem)
    }

    /// [`Error::Unsupported`] of a call that its front names ([`call`]).
    pub fn unsupported(device: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self::Unsupported { operation: "", device: device.to_string(), reason: reason.into() }
    }

    /// The error, as one of this call where it names none.
    #[must_use]
    pub fn of(mut self, call: &'static str) -> Self {
        match &mut self {
            Self::InvalidInput { operation, .. }
            | Self::Unsupported { operation, .. }
            | Self::Foreign { operation, .. }
            | Self::WrongContext { operation, .. }
                if operation.is_empty() =>
            {
                *operation = call;
            }
            Self::Driver(failed) if failed.operation.is_empty() => failed.operation = call,
            _ => {}
        }
        self
    }
}

/// Does a call, whose name stands in the errors that it returns: what refuses it need not know who asked.
///
/// # Errors
/// Those of `body`.
pub fn call<T>(name: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    if is_forked() {
        return Err(Error::forked(name));
    }
    body().map_err(|error| error.of(name))
}

/// [`call`] for what a driver may start threads in, which get none of the host's signals.
///
/// # Errors
/// Those of `body`.
pub fn setup<T>(name: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let _blocked = SignalsBlocked::new();
    call(name, body)
}
