//! Time of a program's last use of a link. Any time since then is time that it waits, or has other work.

use crate::select::Clock;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Time of the program's last use of a link, kept while that is of interest.
#[derive(Clone)]
pub(super) struct Touch(Rc<Cell<Duration>>, Clock);

impl Touch {
    pub fn new(clock: &Clock) -> Self {
        Self(Rc::new(Cell::new(clock.now())), clock.clone())
    }

    /// Now.
    pub fn note(&self) {
        self.0.set(self.1.now());
    }

    /// Tells when that was.
    pub fn last(&self) -> Duration {
        self.0.get()
    }
}

/// Notes when what is drawn was drawn.
pub(super) struct Drawn(pub Option<Touch>);

impl Drop for Drawn {
    fn drop(&mut self) {
        if let Some(touch) = &self.0 {
            touch.note();
        }
    }
}
