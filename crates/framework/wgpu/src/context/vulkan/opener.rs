//! Memory and semaphores of other devices and APIs, for kernels in wgpu's queue.

use super::buffer::{USAGE, wrap};
use super::{QueueSemaphore, sharing_of};
use crate::context::device::WgpuDevice;
use crate::context::format::whole_words;
use interop_core::{ComputeSemaphore, MemoryCap, MemoryHandle, Result, SemaphoreCap, SemaphoreHandle};
use pixelferry_vulkan::sharing::SharingDevice;
use std::sync::Arc;

/// Functions of one device, which lives as long as the [`WgpuDevice`] that is kept with this.
pub(crate) struct Opener(SharingDevice);

impl Opener {
    /// `None` if the device's API is not Vulkan.
    pub(crate) fn of(device: &WgpuDevice) -> Option<Self> {
        sharing_of(&device.device, &device.identity).map(Self)
    }

    /// Returns the memory and semaphores that it can import.
    pub(crate) fn caps(&self) -> (Vec<MemoryCap>, Vec<SemaphoreCap>) {
        self.0.opened_by_kernels()
    }

    /// Imports the first bytes of memory, in whole words, as a buffer.
    pub(crate) fn buffer(&self, device: &WgpuDevice, memory: MemoryHandle, bytes: usize) -> Result<wgpu::Buffer> {
        let size = whole_words(bytes as u64);
        wrap(device, &Arc::new(self.0.imported_buffer(memory, size, USAGE)?), None, size)
    }

    /// Imports a semaphore for the device's queue.
    pub(crate) fn semaphore(&self, device: &WgpuDevice, handle: SemaphoreHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let kind = handle.kind();
        Ok(Box::new(QueueSemaphore::new(device, self.0.imported_semaphore(handle)?, kind)))
    }
}
