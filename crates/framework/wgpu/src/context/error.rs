//! Errors of wgpu, converted to typed errors.

use interop_core::{DeviceIdentity, DriverError, Error, Result};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// Reason why a device was lost, once it was.
pub(crate) type Loss = Arc<OnceLock<String>>;

/// Returns the result of a future; wgpu's futures are ready at once on native systems.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match std::pin::pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Makes an error; the public function adds the name of the operation.
pub(crate) fn failure(identity: &DeviceIdentity, code: i64, code_name: String, hint: &str) -> Error {
    DriverError::new("", identity.to_string(), code, code_name).with_hint(hint).into()
}

/// Joins wgpu's description, which gives each cause on its own line.
fn one_line(description: &str) -> String {
    let lines: Vec<_> = description.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" / ")
}

/// Runs `f` inside error scopes. Without them, wgpu calls the device's handler, which by default ends the program.
pub(crate) fn in_scopes<T>(device: &wgpu::Device, identity: &DeviceIdentity, f: impl FnOnce() -> T) -> Result<T> {
    use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
    let scopes = [Internal, OutOfMemory, Validation].map(|filter| device.push_error_scope(filter));
    let value = f();
    let mut first = None;
    for scope in scopes.into_iter().rev() {
        first = first.or(now(scope.pop()).flatten());
    }
    let (name, hint) = match first {
        None => return Ok(value),
        Some(wgpu::Error::OutOfMemory { source }) => {
            let hint = "Use a smaller surface or fewer slots, or close other programs that use the GPU.";
            (format!("out of memory: {source}"), hint)
        }
        Some(wgpu::Error::Validation { description, .. }) => (format!("refused: {}", one_line(&description)), ""),
        Some(wgpu::Error::Internal { description, .. }) => (format!("internal error: {}", one_line(&description)), ""),
    };
    Err(failure(identity, 0, name, hint))
}
