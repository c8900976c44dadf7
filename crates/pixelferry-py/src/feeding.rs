//! What a backend needs to write an array's frames: a kernel, and the array's memory as its argument.

use crate::content::Content;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::raw::memory::Readable;
use pixelferry::{Api, ComputeBackend, ComputeMemory, Kernel, Result, SurfaceDesc};
use pixelferry_look::Place;
use std::sync::Arc;

/// The kernel that makes surfaces of arrays; `None` where the backend's kernels do not read the host's arrays in place.
pub fn kernel<D: Content>(
    engine: &Engine,
    backend: &Arc<dyn ComputeBackend>,
    desc: &SurfaceDesc,
) -> Result<Option<Arc<dyn Kernel>>, Failure> {
    match engine {
        Engine::Host(_) if backend.device().api != Api::Cpu => Ok(None),
        Engine::Host(_) | Engine::Cuda(_) => Ok(Some(backend.build(&D::source(desc))?)),
    }
}

/// The array's memory as a kernel reads it; `None` where kernels do not read it in place.
pub fn lent<D: Content>(
    array: &Readable<D>,
    engine: &Engine,
    backend: &dyn ComputeBackend,
) -> Result<Option<Box<dyn ComputeMemory>>> {
    match (engine, array.description().span().place) {
        (Engine::Cuda(backend), Place::Cuda(_)) => array.on_device(backend).map(Some),
        (Engine::Cuda(_), Place::Host) => Ok(None),
        (Engine::Host(_), _) if backend.device().api != Api::Cpu => Ok(None),
        (Engine::Host(_), _) => backend.import_host(&array.block()?).map(Some),
    }
}
