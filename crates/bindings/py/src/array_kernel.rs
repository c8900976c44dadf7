//! What a backend needs to write an array's frames: a kernel, and the array's memory as its argument.

use crate::content::Content;
use crate::engine::Engine;
use crate::raw::memory::Readable;
use pixelferry::{Api, ComputeBackend, ComputeMemory, Kernel, Result, SurfaceDesc};
use pixelferry_look::MemoryLocation;
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
