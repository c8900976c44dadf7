//! Time of a program's last use of a link. The program has waited, or done other work, since then.

use crate::describe::PlainMutex;
use crate::select::Clock;
use std::sync::Arc;
use std::time::Duration;

/// Time of the program's last use of a link, recorded while comparisons need it.
#[derive(Clone)]
pub(super) struct Touch(Arc<PlainMutex<Duration>>, Clock);

impl Touch {
    pub fn new(clock: &Clock) -> Self {
        Self(Arc::new(PlainMutex::new(clock.now())), clock.clone())
    }

    /// Records the current time.
    pub fn note(&self) {
        self.0.set(self.1.now());
    }

    /// Returns the recorded time.
    pub fn last(&self) -> Duration {
        self.0.get()
    }
}

/// Records the time of a draw when it is dropped.
pub(super) struct DrawTouch(pub Option<Touch>);

impl Drop for DrawTouch {
    fn drop(&mut self) {
        if let Some(touch) = &self.0 {
            touch.note();
        }
    }
}
