//! The display's own backend, with which audits read what the display reads.

use crate::WgpuDisplay;
use crate::compute::WgpuBackend;
use interop_core::Result;
use std::any::Any;

impl WgpuDisplay {
    /// Implements [`interop_core::Display::backend_in_queue`].
    pub(crate) fn opened_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        self.in_queue.get(|| WgpuBackend::on(self.shared_device()))
    }
}
