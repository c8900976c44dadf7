//! A mutex without poison, for values that a panic leaves valid.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mutex that a panic does not poison: for values that each change leaves valid. Locking it twice on one thread hangs,
/// so a guard never lives across a call of other code.
#[derive(Debug, Default)]
pub struct PlainMutex<T>(Mutex<T>);

impl<T> PlainMutex<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Waits until no other thread has the value, and returns it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a copy of the value.
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        *self.lock()
    }

    /// Sets the value, and drops the old one.
    pub fn set(&self, value: T) {
        // Dropped after the lock, as a drop may come back here.
        drop(self.replace(value));
    }

    /// Takes the value, and leaves the default one.
    pub fn take(&self) -> T
    where
        T: Default,
    {
        std::mem::take(&mut *self.lock())
    }

    /// Replaces the value, and returns the old one.
    pub fn replace(&self, value: T) -> T {
        std::mem::replace(&mut *self.lock(), value)
    }

    /// Returns the value of a mutex that nobody shares.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
