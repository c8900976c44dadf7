//! Memory: buffers of the display's context.

use crate::compute::place::Place;
use crate::compute::session::Session;
use crate::queue::QueueBuffer;
use interop_core::compute::{MemoryDriver, zeros};
use interop_core::{MemoryHandle, Result};
use std::ops::Range;
use std::sync::Arc;

/// Memory of one backend.
pub struct GlMemory {
    buffer: QueueBuffer,
    len: usize,
    session: Arc<Session>,
}

interop_core::owned!(GlMemory: Session, "memory", |memory| &memory.session);

impl GlMemory {
    pub fn new(session: &Arc<Session>, bytes: usize) -> Result<Self> {
        let device = session.device.clone();
        let buffer = session.place.run(move || QueueBuffer::new(&device, bytes))?;
        Ok(Self { buffer, len: bytes, session: session.clone() })
    }

    /// Memory of another device or API.
    pub fn open(session: &Arc<Session>, handle: MemoryHandle, bytes: usize) -> Result<Self> {
        let device = session.device.clone();
        let buffer = session.place.run(move || QueueBuffer::opened(&device, handle, bytes))?;
        Ok(Self { buffer, len: bytes, session: session.clone() })
    }

    pub fn buffer(&self) -> &QueueBuffer {
        &self.buffer
    }

    /// Bytes on the host, after all that was queued before.
    fn bytes(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let (buffer, mut bytes) = (self.buffer.clone(), zeros(range.len())?);
        self.session.place.run(move || {
            buffer.read(range.start, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// Queues a write.
    fn put(&mut self, offset: usize, bytes: Vec<u8>) -> Result<()> {
        let buffer = self.buffer.clone();
        self.session.place.run(move || buffer.write(offset, &bytes))
    }
}

impl MemoryDriver for GlMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        match self.session.place {
            Place::Callers => self.buffer.read(offset, into),
            Place::Own(_) => {
                into.copy_from_slice(&self.bytes(offset..offset + into.len())?);
                Ok(())
            }
        }
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        match self.session.place {
            Place::Callers => self.buffer.write(offset, from),
            Place::Own(_) => {
                let mut bytes = zeros(from.len())?;
                bytes.copy_from_slice(from);
                self.put(offset, bytes)
            }
        }
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        f(&self.bytes(range)?)
    }

    fn release(&mut self) -> Result<()> {
        self.session.finish()
    }

    fn release_in_queue(&mut self) -> Result<()> {
        if self.buffer.is_opened() {
            let mut written = self.session.written();
            // A turn whose signal failed is ended again.
            if !written.iter().any(|other| other.is(&self.buffer)) {
                written.push(self.buffer.clone());
            }
        }
        Ok(())
    }
}
