//! Objects of the layer's by their handles, with how often the program holds them.

use crate::cl::handles::Handle;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects, and how often the program holds each.
pub struct Registry<T>(Mutex<HashMap<Handle, (T, u32)>>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Registry<T> {
    pub fn lock(&self) -> MutexGuard<'_, HashMap<Handle, (T, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program is given an object.
    pub fn insert(&self, handle: Handle, object: T) {
        self.lock().insert(handle, (object, 1));
    }

    /// The program holds an object once more.
    pub fn retained(&self, handle: Handle) {
        if let Some((_, references)) = self.lock().get_mut(&handle) {
            *references += 1;
        }
    }

    /// The program lets go of an object once; the answer is the object where that was the last time.
    pub fn released(&self, handle: Handle) -> Option<T> {
        let mut entries = self.lock();
        let (_, references) = entries.get_mut(&handle)?;
        *references -= 1;
        if *references > 0 {
            return None;
        }
        entries.remove(&handle).map(|(object, _)| object)
    }
}
