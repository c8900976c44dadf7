//! The surface's own object, opened by the compute API.

use crate::compute::{ComputeBackend, ComputeMemory, MemoryDriver};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::HandleType;
use crate::display::{Display, Surface};
use crate::path::Pairing;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The surface's own object, opened by the compute API.
pub(super) struct Direct {
    /// Pixels in rows, of a texture that was taken.
    linear: Option<Box<dyn ComputeMemory>>,
    object: Object,
    is_image: bool,
    acquired: bool,
    /// By which it was opened.
    handle: HandleType,
    backend: Arc<dyn ComputeBackend>,
}

/// Goes while the display's context is current, or later.
struct Object {
    memory: Box<dyn ComputeMemory>,
    display: Rc<dyn Display>,
}

impl Drop for Object {
    fn drop(&mut self) {
        let memory = std::mem::replace(&mut self.memory, Box::new(Gone));
        self.display.drop_in_context(Box::new(memory));
    }
}

/// In the place of memory that goes later than its owner.
struct Gone;

impl MemoryDriver for Gone {
    fn len(&self) -> usize {
        0
    }

    fn read(&mut self, _: usize, _: &mut [u8]) -> Result<()> {
        Err(gone())
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<()> {
        Err(gone())
    }

    fn map_read(&mut self, _: Range<usize>, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Err(gone())
    }

    fn map_write(&mut self, _: Range<usize>, _: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        Err(gone())
    }

    fn release(&mut self) -> Result<()> {
        Err(gone())
    }
}

fn gone() -> Error {
    Error::refused("the memory was given back")
}

impl Direct {
    pub fn open(pairing: &Pairing<'_>, source: &Surface, handle: HandleType) -> Result<Self> {
        let object = pairing.backend.import_surface(&source.export(handle)?, pairing.desc)?;
        let object = Object { memory: object, display: Rc::clone(pairing.display) };
        let is_image = matches!(pairing.desc, SurfaceDesc::Image(_));
        Ok(Self { linear: None, object, is_image, acquired: false, handle, backend: Arc::clone(pairing.backend) })
    }

    /// Begins a turn, after the end of one that a panic or another context left open.
    pub fn acquire(&mut self, surface: &Surface) -> Result<()> {
        self.give_back()?;
        // An engine's object may be another by now: the display says so.
        surface.export(self.handle)?;
        self.object.memory.acquire()?;
        self.acquired = true;
        Ok(())
    }

    pub fn take(&mut self, backend: &dyn ComputeBackend, source: &Surface) -> Result<()> {
        if self.is_image && self.linear.is_none() {
            self.linear = Some(backend.allocate(self.object.memory.len())?);
        }
        self.acquire(source)?;
        if !self.is_image {
            return Ok(());
        }
        let object = self.object.memory.as_ref();
        let copied = match &mut self.linear {
            Some(linear) => backend.copy(object, linear.as_mut(), 0..object.len()),
            None => Err(gone()),
        };
        self.give_back().and(copied)
    }

    pub fn give_back(&mut self) -> Result<()> {
        if self.acquired {
            match self.handle {
                // The queue keeps the order, once it has been told.
                HandleType::QueueBuffer(_) => self.object.memory.submit()?,
                _ => self.object.memory.release()?,
            }
            if !self.is_image && self.handle == HandleType::GlObject {
                // The engine may write the buffer from the host next. NVIDIA's driver orders what its GPU does after the
                // release, but not that: `glBufferSubData` came before the kernel (docs/drivers.md).
                self.backend.finish()?;
            }
            self.acquired = false;
        }
        Ok(())
    }

    /// Returns what kernels write.
    pub fn object(&mut self) -> &mut dyn ComputeMemory {
        self.object.memory.as_mut()
    }

    /// Returns what kernels read.
    pub fn memory(&self) -> &dyn ComputeMemory {
        &**self.linear.as_ref().unwrap_or(&self.object.memory)
    }

    pub fn memory_mut(&mut self) -> &mut dyn ComputeMemory {
        &mut **self.linear.as_mut().unwrap_or(&mut self.object.memory)
    }
}
