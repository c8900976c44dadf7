//! Objects of the layer's by their handles, with how often the program holds them.

use crate::cl::handles::Handle;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An object, and how often the program holds it.
pub struct RegistryEntry<T> {
    pub object: T,
    references: u32,
}

pub struct Registry<T>(Mutex<HashMap<Handle, RegistryEntry<T>>>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Registry<T> {
    pub fn lock(&self) -> MutexGuard<'_, HashMap<Handle, RegistryEntry<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program is given an object.
    pub fn insert(&self, handle: Handle, object: T) {
        self.lock().insert(handle, RegistryEntry { object, references: 1 });
    }

    /// The program holds an object once more.
    pub fn retained(&self, handle: Handle) {
        if let Some(entry) = self.lock().get_mut(&handle) {
            entry.references += 1;
        }
    }

    /// The program lets go of an object once; the answer is the object where that was the last time.
    pub fn released(&self, handle: Handle) -> Option<T> {
        let mut entries = self.lock();
        let entry = entries.get_mut(&handle)?;
        entry.references -= 1;
        if entry.references > 0 {
            return None;
        }
        entries.remove(&handle).map(|entry| entry.object)
    }
}
