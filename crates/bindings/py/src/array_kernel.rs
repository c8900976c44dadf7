//! What a backend needs to write an array's frames: a kernel, and the array's memory as its argument.

use crate::content::Content;
use crate::engine::Engine;
use crate::raw::memory::Readable;
use pixelferry::{Api, ComputeBackend, ComputeMemory, Kernel, Result, SurfaceDesc};
use pixelferry_look::MemoryLocation;
use std::ptr;
use std::sync::Arc;

/// Returns the kernel that makes surfaces from arrays; `None` if the backend's kernels cannot read host arrays in
/// place.
pub fn kernel<D: Content>(
    engine: &Engine,
    backend: &Arc<dyn ComputeBackend>,
    desc: &SurfaceDesc,
) -> Result<Option<Arc<dyn Kernel>>> {
    match engine {
        Engine::Host(_) if backend.device().api != Api::Cpu => Ok(None),
        Engine::Host(_) | Engine::Cuda(_) => Ok(Some(backend.build(&D::source(desc))?)),
    }
}

/// Returns the array's memory for a kernel; `None` if kernels cannot read it in place.
pub fn lent<D: Content>(
    array: &Readable<D>,
    engine: &Engine,
    backend: &dyn ComputeBackend,
) -> Result<Option<Box<dyn ComputeMemory>>> {
    match (engine, array.description().span().place) {
        (Engine::Cuda(backend), MemoryLocation::Cuda(_)) => array.on_device(backend).map(Some),
        (Engine::Cuda(_), MemoryLocation::Host | MemoryLocation::Backend) => Ok(None),
        (Engine::Host(_), _) if backend.device().api != Api::Cpu => Ok(None),
        (Engine::Host(_), _) => backend.import_host(&array.block()?).map(Some),
    }
}

/// Memory with the bytes of a content's table, rewritten when the table changes.
#[derive(Default)]
pub struct ContentTable(Option<(&'static [u8], Box<dyn ComputeMemory>)>);

impl ContentTable {
    pub fn lend<D: Content>(
        &mut self,
        content: &D,
        backend: &dyn ComputeBackend,
    ) -> Result<Option<&dyn ComputeMemory>> {
        let Some(bytes) = content.table() else { return Ok(None) };
        if self.0.as_ref().is_none_or(|(of, _)| !ptr::eq(*of, bytes)) {
            let mut memory = backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            self.0 = Some((bytes, memory));
        }
        Ok(self.0.as_ref().map(|(_, memory)| memory.as_ref()))
    }
}
