//! Catches panics of code that callers supply, before they unwind into a driver, which is C, or end a thread that
//! serves other callers as well.
//!
//! The payload of a panic is a value of the caller's, and its `Drop` may panic, too. For that reason only this module
//! holds one: the workspace's `clippy.toml` forbids `std::panic::catch_unwind` elsewhere.

use super::error::{Error, Result};
use std::any::Any;
use std::panic::AssertUnwindSafe;

/// The message of a caught panic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it panicked: {0}")]
pub struct PanicMessage(String);

impl PanicMessage {
    /// Returns the panic's own message.
    pub fn message(&self) -> &str {
        &self.0
    }

    /// Takes the payload of a panic and drops it, catching a panic of its drop.
    fn of(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("(the panic carried no text)").to_owned();
        if let Err(again) = caught(|| drop(payload)) {
            // Dropping this payload may panic as well, and so on without end.
            std::mem::forget(again);
        }
        Self(text)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place for it")]
fn caught<R>(f: impl FnOnce() -> R) -> std::thread::Result<R> {
    std::panic::catch_unwind(AssertUnwindSafe(f))
}

/// Runs `f` and catches a panic, whose payload is dropped before this returns.
///
/// The state that `f` was changing when it panicked stays as it was then; a caller that continues to use it must be
/// able to.
///
/// ```
/// let outcome = interop_core::describe::panics::catch(|| [1, 2].get(5).copied().unwrap());
/// assert!(outcome.unwrap_err().message().contains("None"));
/// ```
///
/// # Errors
/// The message of the panic.
pub fn catch<R>(f: impl FnOnce() -> R) -> Result<R, PanicMessage> {
    ended(caught(f))
}

/// Runs `f` and turns a panic into an error that names `what`, the code that panicked.
///
/// # Errors
/// Those of `f`, or [`Error::Panicked`].
pub fn as_error<R>(what: &str, f: impl FnOnce() -> Result<R>) -> Result<R> {
    catch(f).unwrap_or_else(|PanicMessage(reason)| Err(Error::Panicked { what: what.into(), reason }))
}

/// Runs code that calls a backend or display. Where several candidates are tried, a panic rejects one and the others go
/// on.
pub(crate) fn contained<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    as_error("the backend or the display", f)
}

/// Returns the result of a thread (`JoinHandle::join`); a panic of the thread becomes an error.
///
/// # Errors
/// The message of the panic.
pub fn ended<R>(outcome: std::thread::Result<R>) -> Result<R, PanicMessage> {
    outcome.map_err(PanicMessage::of)
}

/// Runs `f` and logs a panic as an error of `what`. For callers that cannot use a result.
pub fn contain(what: &str, f: impl FnOnce()) {
    if let Err(panicked) = catch(f) {
        // The subscriber of `tracing` is foreign code, too.
        let _ = catch(|| tracing::error!("a {what} failed: {panicked}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::panic_any;

    /// Panics so many times when it is dropped, each time with another one.
    struct Bomb(u32);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if let Some(left) = self.0.checked_sub(1) {
                panic_any(Self(left));
            }
        }
    }

    #[test]
    fn what_a_panic_carries_cannot_panic_again() {
        for times in [0, 1, 2, u32::MAX] {
            let outcome = catch(|| panic_any(Bomb(times)));
            assert_eq!(outcome.unwrap_err().message(), "(the panic carried no text)");
            contain("test", || panic_any(Bomb(times)));
            ended(std::thread::spawn(move || panic_any(Bomb(times))).join()).unwrap_err();
        }
        assert_eq!(catch(|| 5), Ok(5));
        let said = catch(|| panic!("on {}", "purpose")).unwrap_err();
        assert_eq!((said.message(), said.to_string().as_str()), ("on purpose", "it panicked: on purpose"));
    }

    /// While a thread unwinds, a panic that leaves a `drop` ends the process.
    #[test]
    fn drops_on_the_way_of_a_panic_may_use_it() {
        struct Contains;
        impl Drop for Contains {
            fn drop(&mut self) {
                contain("test", || panic_any(Bomb(3)));
            }
        }
        let outcome = catch(|| {
            let _contains = Contains;
            panic!("outer");
        });
        assert_eq!(outcome.unwrap_err().message(), "outer");
    }
}
