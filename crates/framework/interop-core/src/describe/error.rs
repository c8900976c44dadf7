//! The error type that all traits of this crate use.

use super::forks::is_forked;
use super::mismatch::Mismatch;
use super::path_id::PathId;
use super::threads::SignalMaskGuard;
use super::verdict::AuditVerdict;
use std::fmt;

/// Result whose error is [`Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: what failed, on which device, and a hint what to try.
///
/// `Debug` writes the same text as `Display`, because `fn main() -> Result<(), Error>` prints errors with `Debug`.
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
/// // The text names the wrong value and the allowed ones.
/// assert!(error.as_ref().is_some_and(|e| e.to_string().contains("rgb9")));
/// assert!(error.is_some_and(|e| format!("{e:?}") == e.to_string()));
/// ```
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A library, driver, device or feature is missing. Nothing was changed.
    #[error("{what} is not available: {reason}. {hint}")]
    Unavailable {
        /// The missing thing, e.g. `OpenCL`.
        what: String,
        /// Reason why it counts as missing.
        reason: String,
        /// Hint for the user what to do about it.
        hint: String,
    },
    /// The caller passed invalid values. Nothing was changed.
    #[error("{}{problem}", before(operation, ": "))]
    InvalidInput {
        /// The call that rejected them; empty where no call is known.
        operation: &'static str,
        /// The invalid value, and what would be valid.
        problem: String,
    },
    /// The device cannot do this, whatever the arguments are.
    #[error("{}not supported by {device}: {reason}", before(operation, ": "))]
    Unsupported {
        /// The call that failed; empty where no call is known.
        operation: &'static str,
        /// Name of the device.
        device: String,
        /// The limit that was exceeded, or the missing extension.
        reason: String,
    },
    /// A driver call failed.
    #[error(transparent)]
    Driver(Box<DriverError>),
    /// A kernel, or a program of several kernels, did not compile or link.
    #[error("{} did not build on {device}:\n{log}", what_was_built(kernel))]
    KernelBuild {
        /// Name of the kernel; empty for a program, which may contain several kernels.
        kernel: String,
        /// Name of the device.
        device: String,
        /// The driver's compiler log.
        log: String,
    },
    /// A user's kernel panicked or reported a failure while it ran.
    #[error("kernel '{kernel}' failed on {device}: {reason}")]
    KernelFailed {
        /// Name of the kernel.
        kernel: String,
        /// Name of the device.
        device: String,
        /// The panic message, or the kernel's own error.
        reason: String,
    },
    /// An object of one backend or display was passed to another.
    #[error("{}this {object} does not belong to {device}; create it on {device}", before(operation, ": "))]
    Foreign {
        /// The call that rejected it; empty where no call is known.
        operation: &'static str,
        /// Kind of object: kernel, memory, surface, staging block.
        object: &'static str,
        /// Name of the device that the object was passed to.
        device: String,
    },
    /// The display's context is not current on this thread, so no driver call was made.
    #[error(
        "{}the context of {device} is not current on this thread; make it current first \
         (a context can be current on one thread at a time)",
        before(operation, ": ")
    )]
    WrongContext {
        /// The call that failed; empty where no call is known.
        operation: &'static str,
        /// Name of the display.
        device: String,
    },
    /// An operation was not started, or the owner of its event failed or dropped the event.
    #[error("the operation did not finish: {reason}")]
    EventFailed {
        /// The reason; if another operation failed first, the error of that one.
        reason: String,
    },
    /// A path ran without an error, but the pixels that arrived differ from those that were written.
    #[error("path {path} was rejected by verification: {mismatch}")]
    Rejected {
        /// The rejected path.
        path: PathId,
        /// The first differing byte.
        mismatch: Mismatch,
    },
    /// Code that the program supplied (a path, a backend or a display) panicked.
    #[error("{what} panicked: {reason}")]
    Panicked {
        /// Name of the code that panicked.
        what: String,
        /// The panic message.
        reason: String,
    },
    /// An audit found that the display read another frame than the kernels had written ([`crate::audit`]).
    #[error("path {path} showed frame {frame} wrongly, as an audit found: {verdict}")]
    WrongFrame {
        /// The path.
        path: PathId,
        /// Number of the frame in its link, counted from 1.
        frame: u64,
        /// The comparison.
        verdict: AuditVerdict,
    },
    /// No frame has been finished yet, so there is nothing to show.
    #[error("nothing to show yet: no frame of this link is finished; finish one, then draw")]
    NothingShown,
    /// The newest frame was written directly into its target ([`Link::show`](crate::LinkCore::show)), so no surface holds it.
    #[error(
        "the newest frame was written directly into its target, so no surface holds it; read the target, or \
         compute a frame with Link::frame first"
    )]
    InTarget,
    /// The link was resized to 0x0, as happens when a window is minimised.
    #[error("the link is paused because it was resized to 0x0; resize it to at least 1x1 before the next frame")]
    Paused,
    /// No path works between the two sides, or the requested path does not.
    #[error("no usable path from {compute} to {display}: {reason}")]
    NoPath {
        /// Name of the compute device.
        compute: String,
        /// Name of the display device.
        display: String,
        /// Each path with its reason, or the alternatives to the requested path.
        reason: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns a call's name followed by `then`; empty where an error names no call.
fn before(operation: &str, then: &str) -> String {
    if operation.is_empty() { String::new() } else { format!("{operation}{then}") }
}

fn what_was_built(kernel: &str) -> String {
    if kernel.is_empty() { "the program".into() } else { format!("kernel '{kernel}'") }
}

/// A failed driver call.
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
    /// The API function, e.g. `clCreateBuffer`, or the call of this crate where the API has no single function.
    pub operation: &'static str,
    /// Name of the device.
    pub device: String,
    /// The error code that the driver returned.
    pub code: i64,
    /// The code's name in the specification.
    pub code_name: String,
    /// Hint for the user what to try; may be empty.
    pub hint: String,
}

impl DriverError {
    /// Describes a failed call without a hint.
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
    /// Returns the error for using `what` in a forked process whose parent had open drivers or streams.
    pub fn forked(what: &str) -> Self {
        Self::Unavailable {
            what: what.into(),
            reason:
                "this process was forked after its parent opened drivers or streams, whose threads do not exist here"
                    .into(),
            hint:
                "Start a new process instead of forking (in Python: multiprocessing.get_context(\"spawn\")), or fork \
                   before pixelferry is used."
                    .into(),
        }
    }

    /// Shorthand for [`Error::InvalidInput`].
    pub fn invalid(operation: &'static str, problem: impl Into<String>) -> Self {
        Self::InvalidInput { operation, problem: problem.into() }
    }

    /// Adds unusual states of a display to a verification error.
    pub(crate) fn with_states(mut self, states: impl FnOnce() -> Vec<String>) -> Self {
        if let Self::Rejected { mismatch, .. } = &mut self {
            mismatch.unusual_states = states();
        }
        self
    }

    /// [`Error::InvalidInput`] without a call; the public function that was called adds its name ([`call`]).
    pub fn refused(problem: impl Into<String>) -> Self {
        Self::invalid("", problem)
    }

    /// [`Error::Unsupported`] without a call; the public function that was called adds its name ([`call`]).
    pub fn unsupported(device: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self::Unsupported { operation: "", device: device.to_string(), reason: reason.into() }
    }

    /// Shorthand for [`Error::Unavailable`].
    pub fn unavailable(what: impl fmt::Display, reason: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::Unavailable { what: what.to_string(), reason: reason.to_string(), hint: hint.into() }
    }

    /// Sets the call of an error that names none.
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

/// Runs `body` and adds the name of the public call to the errors that it returns, so that inner functions need not
/// know it.
///
/// # Errors
/// Those of `body`.
pub fn call<T>(name: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    if is_forked() {
        return Err(Error::forked(name));
    }
    body().map_err(|error| error.of(name))
}

/// Like [`call`], for functions in which a driver may start threads. Those threads receive none of the host's signals.
///
/// # Errors
/// Those of `body`.
pub fn setup<T>(name: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let _blocked = SignalMaskGuard::new();
    call(name, body)
}
