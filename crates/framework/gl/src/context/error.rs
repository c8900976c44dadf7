//! Converts GL errors to typed errors.

use crate::api::error_codes::{code_name, hint};
use crate::context::context_state::ContextState;
use glow::HasContext as _;
use interop_core::{DriverError, Error, Result};

/// More queued errors than a driver keeps; a lost context repeats one forever.
const MAX_QUEUED: usize = 32;

/// Returns a driver error of a device.
pub(crate) fn failure(device: &str, operation: &'static str, code: i64, code_name: &str, hint: &str) -> Error {
    let (device, code_name, hint) = (device.to_owned(), code_name.to_owned(), hint.to_owned());
    DriverError::new(operation, device, code, code_name).with_hint(hint).into()
}

/// Removes errors that other code left behind, so that the next [`check`] reports our call. The context must be
/// current.
pub(crate) fn drain(gl: &glow::Context, before: &'static str) {
    for _ in 0..MAX_QUEUED {
        // SAFETY: the context is current.
        let code = unsafe { gl.get_error() };
        if code == glow::NO_ERROR {
            return;
        }
        tracing::debug!(code = code_name(code), before, "an earlier GL error was still queued");
    }
}

/// Returns the first queued error as an error of `operation`, and empties the queue. The context must be current.
pub(crate) fn check(
    gl: &glow::Context,
    device: &str,
    operation: &'static str,
    hint: impl FnOnce(u32) -> &'static str,
) -> Result<()> {
    // SAFETY: the context is current.
    let code = unsafe { gl.get_error() };
    if code == glow::NO_ERROR {
        return Ok(());
    }
    drain(gl, operation);
    Err(failure(device, operation, i64::from(code), code_name(code), hint(code)))
}

impl ContextState {
    /// Returns a driver error of this display.
    pub(crate) fn failure(&self, operation: &'static str, code: i64, code_name: &str, hint: &str) -> Error {
        failure(&self.device.name, operation, code, code_name, hint)
    }

    /// Returns an error for something that this context does not support.
    pub(crate) fn unsupported(&self, reason: String) -> Error {
        Error::unsupported(&self.device.name, reason)
    }

    /// Returns the error for an object that was not created, which GL reports by a null name without a code.
    pub(crate) fn no_name(&self, operation: &'static str, why: &str) -> Error {
        self.failure(operation, 0, "no object name returned", why)
    }

    /// Removes errors that other code left behind, so that the next [`ContextState::check`] reports our call.
    pub(crate) fn drain_errors(&self, before: &'static str) {
        drain(&self.gl, before);
    }

    /// Returns the first queued error as an error of `operation`, and empties the queue.
    pub(crate) fn check(&self, operation: &'static str) -> Result<()> {
        self.check_with(operation, hint)
    }

    /// Like [`ContextState::check`], with a hint from the caller.
    pub(crate) fn check_with(&self, operation: &'static str, hint: impl FnOnce(u32) -> &'static str) -> Result<()> {
        check(&self.gl, &self.device.name, operation, hint)
    }

    /// Runs `f` between a drain and a check.
    pub(crate) fn checked<T>(&self, operation: &'static str, f: impl FnOnce() -> T) -> Result<T> {
        self.drain_errors(operation);
        let value = f();
        self.check(operation)?;
        Ok(value)
    }

    /// Runs `f`, like [`ContextState::checked`] if `verify` is set, otherwise without asking for errors. For calls in
    /// every frame, because `glGetError` makes a threaded driver wait.
    pub(crate) fn checked_if<T>(&self, verify: bool, operation: &'static str, f: impl FnOnce() -> T) -> Result<T> {
        if verify { self.checked(operation, f) } else { Ok(f()) }
    }
}
