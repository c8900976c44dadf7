//! A buffer of the display's own wgpu device, made by somebody else who uses its queue.

use crate::device::WgpuDevice;
use crate::format::whole_words;
use interop_core::{Error, Result, SharedHandle};

/// A buffer by which a compute backend on the display's device ([`crate::WgpuDisplay::shared_device`]) gives it memory, see
/// [`interop_core::StagingKind::External`]. Both sides submit to one queue, which keeps the order.
#[derive(Debug, Clone)]
pub struct LentBuffer {
    device: WgpuDevice,
    buffer: wgpu::Buffer,
}

impl LentBuffer {
    /// Makes one of at least so many bytes, which kernels write, draws read, and copies do both with.
    ///
    /// # Errors
    /// What wgpu refuses.
    pub fn new(device: &WgpuDevice, bytes: usize, operation: &'static str) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let buffer = device.scoped(operation, || {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pixelferry shared"),
                size: whole_words(bytes as u64),
                usage: Usage::STORAGE | Usage::VERTEX | Usage::COPY_SRC | Usage::COPY_DST,
                mapped_at_creation: false,
            })
        })?;
        Ok(Self { device: device.clone(), buffer })
    }

    /// The buffer itself.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// As a handle.
    pub fn into_handle(self) -> SharedHandle {
        SharedHandle::QueueBuffer { queue: self.device.queue_id(), buffer: Box::new(self) }
    }

    /// The buffer of at least so many bytes, where the handle is of a buffer of this very device.
    pub(crate) fn open(handle: &SharedHandle, display: &WgpuDevice, bytes: usize) -> Result<wgpu::Buffer> {
        const OP: &str = "create_staging";
        let SharedHandle::QueueBuffer { buffer: handle, .. } = handle else {
            return Err(Error::invalid(OP, "the handle does not name a buffer of a queue"));
        };
        let Some(Self { device, buffer }) = handle.downcast_ref::<Self>() else {
            return Err(Error::invalid(OP, "the buffer is not wgpu's, or is of another version of wgpu-display"));
        };
        if !device.is(display) {
            return Err(display.unsupported(OP, "the buffer is of another wgpu device"));
        }
        if buffer.size() < bytes as u64 {
            let problem = format!("the buffer has {} bytes, {bytes} are needed", buffer.size());
            return Err(Error::invalid(OP, problem));
        }
        Ok(buffer.clone())
    }
}
