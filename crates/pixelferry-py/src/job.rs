//! Work for a stage, and how it fails.

use crate::failure::Failure;
use crate::stage::Stage;
use pixelferry::driver::describe::panics::catch;
use std::time::Duration;

/// Interval at which a waiting call looks for signals (Ctrl-C).
pub const TICK: Duration = Duration::from_millis(50);

/// Work for a stage.
pub type Job<S = Stage> = Box<dyn FnOnce(&mut S) + Send>;

/// Tells how calls after the end are refused.
pub fn closed() -> Failure {
    Failure::Closed("the viewer is closed".into())
}

/// A panic becomes a failure.
pub fn guarded<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    catch(work).unwrap_or_else(|panic| Err(Failure::Device(format!("internal error: {}", panic.message()))))
}
