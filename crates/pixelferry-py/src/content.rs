//! Processing of an array in a frame.

use crate::raw::memory::Lies;
use pixelferry::{Arg, ComputeMemory, KernelSource, Result, SurfaceDesc, Target};
use pixelferry_look::{Plane, Span};

/// An array that a frame is made of.
pub trait Content: Lies {
    /// The kernel that makes it, for a surface that takes it.
    fn source(desc: &SurfaceDesc) -> KernelSource;

    /// The kernel's arguments; `memory` is that of the array.
    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory) -> Vec<Arg<'a>>;

    /// Writes it from memory of the host, for a backend that does not take that as an argument or has no such kernel.
    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()>;
}

impl Lies for Plane {
    fn span(&self) -> Span {
        self.span
    }
}

impl Content for Plane {
    fn source(desc: &SurfaceDesc) -> KernelSource {
        Self::source(desc)
    }

    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory) -> Vec<Arg<'a>> {
        self.arguments(memory)
    }

    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()> {
        self.write(to, bytes)
    }
}
