//! Objects of the layer by handle, with the program's reference counts.

use crate::cl::handles::Handle;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects with the program's reference counts.
pub struct Registry<T>(pub Mutex<HashMap<Handle, (T, u32)>>);

impl<T> Registry<T> {
    pub fn lock(&self) -> MutexGuard<'_, HashMap<Handle, (T, u32)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an object that is given to the program.
    pub fn insert(&self, handle: Handle, object: T) {
        self.lock().insert(handle, (object, 1));
    }

    /// The program retains an object.
    pub fn retained(&self, handle: Handle) {
        if let Some((_, references)) = self.lock().get_mut(&handle) {
            *references += 1;
        }
    }

    /// The program releases an object; returns the object after its last reference.
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
