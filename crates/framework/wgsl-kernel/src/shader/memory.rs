//! Memory: storage buffers.

use super::device::{Session, ShaderDevice};
use interop_core::compute::MemoryDriver;
use interop_core::{Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;

/// Memory of one backend.
pub struct ShaderMemory<D: ShaderDevice> {
    buffer: D::Buffer,
    len: usize,
    /// Mark at the end of the last use in the queue.
    turn: Option<D::Mark>,
    device: Arc<D>,
}

interop_core::owned!(ShaderMemory<D>: Session, "memory", |memory| memory.device.session(), D: ShaderDevice);

impl<D: ShaderDevice> ShaderMemory<D> {
    /// Allocates memory of the device.
    ///
    /// # Errors
    /// Those of [`ShaderDevice::allocate`].
    pub fn new(device: &Arc<D>, len: usize) -> Result<Self> {
        Ok(Self { buffer: device.allocate(len)?, len, turn: None, device: Arc::clone(device) })
    }

    /// Opens memory of another owner.
    ///
    /// # Errors
    /// Those of [`ShaderDevice::open`].
    pub fn open(device: &Arc<D>, handle: &SharedHandle, len: usize) -> Result<Self> {
        Ok(Self { buffer: device.open(handle, len)?, len, turn: None, device: Arc::clone(device) })
    }

    /// Returns the API's own object.
    pub fn buffer(&self) -> &D::Buffer {
        &self.buffer
    }
}

impl<D: ShaderDevice> MemoryDriver for ShaderMemory<D> {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.device.read(&self.buffer, offset, into)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.device.write(&self.buffer, offset, from)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        f(&self.device.bytes(&self.buffer, range)?)
    }

    fn submit(&mut self) -> Result<()> {
        self.turn = self.device.mark(&self.buffer)?;
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        self.device.release(&self.buffer, self.turn.take())
    }

    fn release_in_queue(&mut self) -> Result<()> {
        self.device.release_in_queue(&self.buffer)
    }
}
