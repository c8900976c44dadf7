//! A buffer of the display's own wgpu device, created by other code that uses its queue.

use crate::context::device::WgpuDevice;
use crate::context::format::whole_words;
use interop_core::{Result, SharedHandle};

/// A buffer by which a compute backend on the display's device ([`crate::WgpuDisplay::shared_device`]) passes its
/// memory to the display, see [`interop_core::StagingKind::External`]. Both sides submit to one queue, which keeps the
/// order.
#[derive(Debug, Clone)]
pub(crate) struct QueueBuffer {
    device: WgpuDevice,
    buffer: wgpu::Buffer,
}

impl QueueBuffer {
    /// Creates a buffer of at least this many bytes, which kernels write, draws read, and copies use either way. It is
    /// zero at first.
    ///
    /// # Errors
    /// Errors of wgpu.
    pub fn new(device: &WgpuDevice, bytes: usize) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let (size, usage) =
            (whole_words(bytes as u64), Usage::STORAGE | Usage::VERTEX | Usage::COPY_SRC | Usage::COPY_DST);
        let desc = wgpu::BufferDescriptor { label: Some("pixelferry shared"), size, usage, mapped_at_creation: false };
        let buffer = device.scoped(|| device.device.create_buffer(&desc))?;
        Ok(Self { device: device.clone(), buffer })
    }

    /// Wraps an existing buffer of this device, which has the usage `STORAGE` and whole words.
    pub(crate) fn over(device: &WgpuDevice, buffer: &wgpu::Buffer) -> Self {
        Self { device: device.clone(), buffer: buffer.clone() }
    }

    /// Returns the buffer itself.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns a handle by which a display on the same device opens the buffer.
    pub fn into_handle(self) -> SharedHandle {
        SharedHandle::QueueBuffer { queue: self.device.queue_id(), buffer: Box::new(self) }
    }

    /// Opens the buffer of at least this many bytes behind a handle of this device's queue.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for a handle of another kind or with fewer bytes.
    pub fn open(handle: &SharedHandle, bytes: usize) -> Result<Self> {
        let found: &Self = handle.in_queue("buffer")?;
        SharedHandle::check_room(found.buffer.size(), bytes as u64)?;
        Ok(found.clone())
    }
}
