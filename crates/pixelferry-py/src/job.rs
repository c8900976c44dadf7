//! Work for a stage, and how it fails.

use crate::failure::Failure;
use crate::stage::Stage;
use pixelferry::driver::describe::panics::catch;
use pyo3::Python;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Interval at which a waiting call looks for signals (Ctrl-C).
pub const TICK: Duration = Duration::from_millis(50);

/// Work for a stage.
pub type Job<S = Stage> = Box<dyn FnOnce(&mut S) + Send>;

/// Tells how calls after the end are refused.
pub fn closed() -> Failure {
    Failure::Closed("the viewer is closed".into())
}

/// Posts work and waits for its answer. Not to be called with the interpreter attached. `Err` where nobody is there to do it.
pub fn answered<S: 'static, R: Send + 'static>(
    post: impl FnOnce(Job<S>) -> Result<(), Failure>,
    work: impl FnOnce(&mut S) -> Result<R, Failure> + Send + 'static,
) -> Result<Result<R, Failure>, Failure> {
    let (answer, answered) = channel();
    // Nobody waits any more only where the caller's thread died.
    post(Box::new(move |side| _ = answer.send(work(side))))?;
    // Without an answer the job was dropped unrun: who does such work is gone.
    answered.recv().map_err(|_| closed())
}

/// Waits for what another thread sends, with an eye on Ctrl-C; `None` where it sends nothing any more. Not to be called with
/// the interpreter attached.
pub fn awaited<T>(from: &Receiver<T>) -> Result<Option<T>, Failure> {
    loop {
        match from.recv_timeout(TICK) {
            Ok(sent) => return Ok(Some(sent)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
        }
    }
}

/// A panic becomes a failure.
pub fn guarded<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch(work).unwrap_or_else(|panic| Err(Failure::Device(format!("internal error: {}", panic.message()))))
}
