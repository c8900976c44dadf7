//! The backend that computes in a display's own queue.

use super::backend::ComputeBackend;
use crate::describe::error::Result;
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// A display's own backend in its queue, opened at its first use; for displays that implement
/// [`crate::display::DisplayDriver::backend_in_queue`].
#[derive(Default)]
pub struct BackendInQueue(OnceLock<Arc<dyn ComputeBackend>>);

impl BackendInQueue {
    /// Returns the backend, in the form in which displays return it.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get<B: ComputeBackend>(
        &self,
        open: impl FnOnce() -> Result<B>,
    ) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        let backend = match self.0.get() {
            Some(backend) => Arc::clone(backend),
            None => {
                let opened: Arc<dyn ComputeBackend> = Arc::new(open()?);
                Arc::clone(self.0.get_or_init(|| opened))
            }
        };
        Ok(Some(Box::new(backend)))
    }
}
