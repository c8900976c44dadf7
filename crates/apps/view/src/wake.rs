//! The callback that tells a window or page of news.

use std::sync::{Mutex, PoisonError};

/// A function to call, from any thread, when there is news to take; unset at first.
#[derive(Default)]
pub struct Wake(Mutex<Option<Box<dyn Fn() + Send>>>);

impl Wake {
    /// Sets the function.
    pub fn by(&self, wake: impl Fn() + Send + 'static) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
    }

    /// Calls the function, if it is set.
    pub fn call(&self) {
        if let Some(wake) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }
}
