//! Memory: buffers of the display's context.

use crate::session::Session;
use gl_display::LentBuffer;
use interop_core::compute::check_range;
use interop_core::{ComputeMemory, Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Memory of one backend.
pub struct GlMemory {
    buffer: LentBuffer,
    len: usize,
    session: Arc<Session>,
}

interop_core::owned!(GlMemory: Session, "memory", |memory| &memory.session);

impl GlMemory {
    pub fn new(session: &Arc<Session>, bytes: usize, operation: &'static str) -> Result<Self> {
        let most = session.caps.max_allocation;
        if bytes == 0 {
            return Err(Error::invalid(operation, "0 bytes asked for; give at least 1"));
        }
        if bytes as u64 > most {
            let reason = format!("{bytes} bytes are above its largest allocation, {most}");
            return Err(session.device.unsupported(operation, reason));
        }
        let buffer = LentBuffer::new(&session.device, bytes, operation)?;
        Ok(Self { buffer, len: bytes, session: session.clone() })
    }

    pub fn buffer(&self) -> &LentBuffer {
        &self.buffer
    }

    fn bytes(&self, range: Range<usize>, operation: &'static str) -> Result<Vec<u8>> {
        check_range(&range, self.len, operation)?;
        let mut bytes = reserve(range.len())?;
        self.buffer.read(range.start, &mut bytes, operation)?;
        Ok(bytes)
    }
}

/// Memory of the host, or an error.
fn reserve(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|error| Error::Unavailable {
        what: format!("host memory of {len} bytes"),
        reason: error.to_string(),
        hint: "Use a smaller part or free memory.".into(),
    })?;
    bytes.resize(len, 0);
    Ok(bytes)
}

impl ComputeMemory for GlMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        const OP: &str = "ComputeMemory::read";
        check_range(&(offset..offset.saturating_add(into.len())), self.len, OP)?;
        self.buffer.read(offset, into, OP)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        const OP: &str = "ComputeMemory::write";
        check_range(&(offset..offset.saturating_add(from.len())), self.len, OP)?;
        self.buffer.write(offset, from, OP)
    }

    fn view(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        f(&self.bytes(range, "ComputeMemory::view")?)
    }

    fn fill(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        const OP: &str = "ComputeMemory::fill";
        check_range(&range, self.len, OP)?;
        let mut bytes = reserve(range.len())?;
        f(&mut bytes)?;
        self.buffer.write(range.start, &bytes, OP)
    }

    fn release(&mut self) -> Result<()> {
        self.session.device.finish("ComputeMemory::release")
    }
}
