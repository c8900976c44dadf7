//! Call by which a window or a page learns that there is something new.

use std::sync::{Mutex, PoisonError};

/// Function that is called when there is something to take, from whichever thread; nothing at first.
#[derive(Default)]
pub struct Wake(Mutex<Option<Box<dyn Fn() + Send>>>);

impl Wake {
    /// Calls this from now on.
    pub fn by(&self, wake: impl Fn() + Send + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
    }

    /// There is something new.
    pub fn call(&self) {
        if let Some(wake) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }
}
