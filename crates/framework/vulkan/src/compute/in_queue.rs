//! The display's own backend, with which audits read what the display reads.

use crate::VulkanDisplay;
use crate::compute::VulkanBackend;
use interop_core::Result;
use std::any::Any;

impl VulkanDisplay {
    /// Implements [`interop_core::Display::backend_in_queue`].
    pub(crate) fn opened_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        self.in_queue.get(|| VulkanBackend::on(self))
    }
}
