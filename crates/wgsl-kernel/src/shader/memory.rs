//! Memory: storage buffers.

use super::device::{Session, ShaderDevice};
use interop_core::Result;
use interop_core::compute::MemoryDriver;
use interop_core::devices::owned::Owned;
use std::ops::Range;
use std::sync::Arc;

/// Memory of one backend.
pub struct ShaderMemory<D: ShaderDevice> {
    buffer: D::Buffer,
    len: usize,
    /// End of the last turn in the queue.
    turn: Option<D::Mark>,
    device: Arc<D>,
}

impl<D: ShaderDevice> Owned for ShaderMemory<D> {
    type Maker = Session;

    const OBJECT: &'static str = "memory";

    fn maker(&self) -> &Session {
        self.device.session()
    }
}

impl<D: ShaderDevice> ShaderMemory<D> {
    /// Memory in a buffer that has so many bytes.
    pub fn over(device: &Arc<D>, buffer: D::Buffer, len: usize) -> Self {
        Self { buffer, len, turn: None, device: Arc::clone(device) }
    }

    /// The API's own object.
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
