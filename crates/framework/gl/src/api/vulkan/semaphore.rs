//! Semaphores that other APIs can open.

use super::VulkanDevice;
use interop_core::{Result, SemaphoreHandle, SyncKind};
use pixelferry_vulkan::sharing::Semaphore;
use std::sync::Arc;

/// A semaphore that is unsignalled at first, or has its counter at 0. Handles that others opened share its state.
pub(crate) struct VulkanSemaphore {
    // Dropped before its device.
    semaphore: Semaphore,
    device: Arc<VulkanDevice>,
}

impl VulkanSemaphore {
    /// Creates a semaphore: a timeline if `kind` says so, otherwise a binary one.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export semaphores of that kind.
    pub(crate) fn new(device: &Arc<VulkanDevice>, kind: SyncKind) -> Result<Self> {
        Ok(Self { semaphore: device.sharing.exported_semaphore(kind)?, device: Arc::clone(device) })
    }

    /// Returns a new handle of the semaphore.
    pub(crate) fn export(&self) -> Result<SemaphoreHandle> {
        self.semaphore.export(&self.device.sharing)
    }
}
