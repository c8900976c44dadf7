//! Memory and semaphores of other devices and APIs, for kernels in wgpu's queue.

use super::buffer::{USAGE, wrap};
use super::{QueueSemaphore, sharing_of};
use crate::context::device::WgpuDevice;
use crate::context::format::whole_words;
use interop_core::{ComputeSemaphore, MemoryCap, MemoryHandle, Result, SemaphoreCap, SemaphoreHandle};
use pixelferry_vulkan::sharing::Sharing;
use std::sync::Arc;

/// Functions of one device, which lives as long as the [`WgpuDevice`] that is kept beside this.
pub(crate) struct Opener(Sharing);

impl Opener {
    /// `None` where another API than Vulkan drives the device.
    pub(crate) fn of(device: &WgpuDevice) -> Option<Self> {
        sharing_of(&device.device, &device.identity).map(Self)
    }

    /// Returns what it opens.
    pub(crate) fn caps(&self) -> (Vec<MemoryCap>, Vec<SemaphoreCap>) {
        self.0.opened_by_kernels()
    }

    /// The first bytes of memory, in whole words, as a buffer; and its address, where kernels in PTX run.
    pub(crate) fn buffer(
        &self,
        device: &WgpuDevice,
        memory: MemoryHandle,
        bytes: usize,
    ) -> Result<(wgpu::Buffer, Option<u64>)> {
        let size = whole_words(bytes as u64);
        let (made, address) = match device.ptx.as_ref() {
            Ok(side) => {
                // SAFETY: devices that take PTX have the feature.
                let made = unsafe { self.0.imported_addressed_buffer(memory, size, USAGE) }?;
                // SAFETY: made of this device, with an address.
                let address = unsafe { side.address(made.buffer()?) };
                (made, Some(address))
            }
            Err(_) => (self.0.imported_buffer(memory, size, USAGE)?, None),
        };
        Ok((wrap(device, &Arc::new(made), None, size)?, address))
    }

    /// A semaphore for the device's queue.
    pub(crate) fn semaphore(&self, device: &WgpuDevice, handle: SemaphoreHandle) -> Result<Box<dyn ComputeSemaphore>> {
        let kind = handle.kind();
        Ok(Box::new(QueueSemaphore::new(device, self.0.imported_semaphore(handle)?, kind)))
    }
}
