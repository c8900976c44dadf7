//! Processing of an array in a frame.

use crate::engine::Engine;
use crate::raw::memory::{Lies, Readable};
use crate::span::Place;
use pixelferry::{Api, Arg, ComputeBackend, ComputeMemory, KernelSource, Result, SurfaceDesc, Target};

/// An array that a frame is made of.
pub trait Content: Lies {
    /// The kernel that makes it, for a surface that takes it.
    fn source(desc: &SurfaceDesc) -> KernelSource;

    /// The kernel's arguments; `memory` is that of the array.
    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory) -> Vec<Arg<'a>>;

    /// Writes it from memory of the host, for a backend that does not take that as an argument or has no such kernel.
    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()>;
}

/// The array's memory as a kernel reads it; `None` where it is on the host and kernels are not.
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
