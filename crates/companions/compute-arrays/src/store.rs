//! [`Store`]: an array's memory, lent to one call at a time.

use interop_core::{ComputeMemory, Error, Result};
use std::cell::{Ref, RefCell, RefMut};

/// Memory, or `None` without elements, because devices cannot allocate 0 bytes.
pub(crate) struct Store {
    memory: Option<RefCell<Box<dyn ComputeMemory>>>,
}

fn in_use(operation: &'static str) -> Error {
    Error::invalid(operation, "the array is being read or written by an enclosing call")
}

impl Store {
    pub fn new(memory: Option<Box<dyn ComputeMemory>>) -> Self {
        Self { memory: memory.map(RefCell::new) }
    }

    /// # Errors
    /// [`Error::InvalidInput`] where it has no memory, or is in use.
    pub fn borrow(&self, operation: &'static str) -> Result<Ref<'_, Box<dyn ComputeMemory>>> {
        let memory = self.memory.as_ref().ok_or_else(|| Error::invalid(operation, "the array has no elements"))?;
        memory.try_borrow().map_err(|_| in_use(operation))
    }

    pub fn into_memory(self) -> Option<Box<dyn ComputeMemory>> {
        self.memory.map(RefCell::into_inner)
    }

    pub fn borrow_mut(&self, operation: &'static str) -> Result<Option<RefMut<'_, Box<dyn ComputeMemory>>>> {
        self.memory.as_ref().map(|m| m.try_borrow_mut().map_err(|_| in_use(operation))).transpose()
    }
}
