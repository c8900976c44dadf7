//! The colours of a map in memory of a backend.

use pixelferry::{ComputeBackend, ComputeMemory, Result};
use std::ptr;

/// Memory of one backend with the bytes of a table, rewritten when the table changes. Stays on the thread of its backend's memory.
#[derive(Default)]
pub struct ColourTable(Option<(&'static [u8], Box<dyn ComputeMemory>)>);

impl ColourTable {
    /// Returns the memory with these bytes; `None` without a table. `backend` is the same in each call.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn lend(
        &mut self,
        bytes: Option<&'static [u8]>,
        backend: &dyn ComputeBackend,
    ) -> Result<Option<&dyn ComputeMemory>> {
        let Some(bytes) = bytes else { return Ok(None) };
        if self.0.as_ref().is_none_or(|(of, _)| !ptr::eq(*of, bytes)) {
            let mut memory = backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            self.0 = Some((bytes, memory));
        }
        Ok(self.0.as_ref().map(|(_, memory)| memory.as_ref()))
    }
}
