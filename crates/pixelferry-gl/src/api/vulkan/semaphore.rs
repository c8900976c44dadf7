//! Semaphores that others can open.

use super::VulkanDevice;
use interop_core::{Result, SemaphoreHandle, SyncKind};
use pixelferry_vulkan::sharing::Semaphore;
use std::rc::Rc;

/// Not signalled, or with its counter at 0, at first. Those who opened a handle of it share its state.
pub(crate) struct VulkanSemaphore {
    // Before the device that it is of.
    semaphore: Semaphore,
    device: Rc<VulkanDevice>,
}

impl VulkanSemaphore {
    /// Makes a semaphore: a timeline where `kind` says so, else a binary one.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports none of that kind.
    pub(crate) fn new(device: &Rc<VulkanDevice>, kind: SyncKind) -> Result<Self> {
        Ok(Self { semaphore: device.sharing.exported_semaphore(kind)?, device: Rc::clone(device) })
    }

    /// A new handle of the semaphore.
    pub(crate) fn export(&self) -> Result<SemaphoreHandle> {
        self.semaphore.export(&self.device.sharing)
    }
}
