//! Work for a stage, and how it fails.

use crate::failure::Failure;
use crate::stage::Stage;
use pixelferry::driver::describe::panics::catch;
use pyo3::Python;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often a waiting call checks for signals (Ctrl-C).
pub const TICK: Duration = Duration::from_millis(50);

/// Work for a stage.
pub type Job = Box<dyn FnOnce(&mut Stage) + Send>;

/// The error of calls after closing.
pub fn closed() -> Failure {
    Failure::Closed("the viewer is closed".into())
}

/// Sends work and waits for its result. Do not call this with the interpreter attached. `Err` if the thread has ended.
pub fn answered<R: Send + 'static>(
    post: impl FnOnce(Job) -> Result<(), Failure>,
    work: impl FnOnce(&mut Stage) -> Result<R, Failure> + Send + 'static,
) -> Result<Result<R, Failure>, Failure> {
    let (answer, answered) = channel();
    // The receiver is gone only if the caller's thread died.
    post(Box::new(move |side| _ = answer.send(work(side))))?;
    // Without a result, the job was dropped: the thread has ended.
    answered.recv().map_err(|_| closed())
}

/// Waits for another thread to send, while checking for Ctrl-C; `None` if the sender is gone. Do not call this with the
/// interpreter attached.
pub fn awaited<T>(from: &Receiver<T>) -> Result<Option<T>, Failure> {
    loop {
        match from.recv_timeout(TICK) {
            Ok(sent) => return Ok(Some(sent)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
        }
    }
}

/// Converts a panic to a failure.
pub fn guarded<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch(work).unwrap_or_else(|panic| Err(Failure::Device(format!("internal error: {}", panic.message()))))
}
