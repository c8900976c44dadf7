//! State shared by a display and its objects.

use crate::kernels::Kernels;
use interop_core::describe::PlainMutex;
use interop_core::devices::maker_object::Maker;
use interop_core::{ComputeBackend, ComputeMemory, DisplayCaps, Error, Result, SurfaceDesc};
use std::sync::Arc;

/// State shared by the display's objects; its address also distinguishes them from objects of other displays.
pub struct DisplayState {
    pub backend: Arc<dyn ComputeBackend>,
    pub caps: DisplayCaps,
    pub kernels: Kernels,
    /// Scratch memory, kept between uses at its largest size.
    pub scratch: PlainMutex<Option<Box<dyn ComputeMemory>>>,
}

impl Maker for DisplayState {
    fn name(&self) -> String {
        self.backend.device().to_string()
    }
}

impl DisplayState {
    pub fn unsupported(&self, reason: String) -> Error {
        Error::unsupported(self.name(), reason)
    }

    /// Checks that the device can hold the surface. Returns the bytes of one frame.
    pub fn check(&self, desc: &SurfaceDesc) -> Result<usize> {
        desc.check(&self.name(), &self.caps)
    }

    /// Lends device memory of at least this many bytes, with arbitrary content.
    pub fn with_scratch<R>(&self, bytes: usize, f: impl FnOnce(&mut dyn ComputeMemory) -> Result<R>) -> Result<R> {
        // Taken out in the meantime, so that a nested use allocates its own.
        let kept = self.scratch.take().filter(|memory| memory.len() >= bytes);
        let mut memory = match kept {
            Some(memory) => memory,
            None => self.backend.allocate(bytes)?,
        };
        let result = f(memory.as_mut());
        self.scratch.replace(Some(memory));
        result
    }
}
