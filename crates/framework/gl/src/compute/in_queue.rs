//! The display's own backend, with which audits read what the display reads.

use crate::GlDisplay;
use crate::compute::GlBackend;
use interop_core::{ComputeBackend, Result};
use std::any::Any;
use std::sync::Arc;

impl GlDisplay {
    /// Implements [`interop_core::Display::backend_in_queue`].
    pub(crate) fn opened_in_queue(&self) -> Result<Option<Box<dyn Any>>> {
        let backend = match self.in_queue.get() {
            Some(backend) => Arc::clone(backend),
            None => {
                let backend: Arc<dyn ComputeBackend> = Arc::new(GlBackend::on(self)?);
                Arc::clone(self.in_queue.get_or_init(|| backend))
            }
        };
        Ok(Some(Box::new(backend)))
    }
}
