//! How an array becomes a frame.

use crate::raw::memory::MemoryDesc;
use pixelferry::{Arg, ComputeBackend, ComputeMemory, KernelSource, Result, SurfaceDesc, Target};
use pixelferry_look::{Gauge, MemoryLocation, Plane, Span};

/// An array that a frame is made from.
pub trait Content: MemoryDesc {
    /// The kernel that makes it, for surfaces like `desc`.
    fn source(desc: &SurfaceDesc) -> KernelSource;

    /// Name of the work of writing the array: everything that its time depends on except the size.
    fn work(&self) -> String;

    /// The kernel's arguments. `memory` is the array's memory, and `table` contains the bytes of [`Content::table`].
    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory, table: Option<&'a dyn ComputeMemory>) -> Vec<Arg<'a>>;

    /// Further bytes that the kernel reads.
    fn table(&self) -> Option<&'static [u8]> {
        None
    }

    /// Adds what must be measured from the array's numbers, which are in memory of that device.
    fn measured(self, _: &mut Option<Gauge>, _: &dyn ComputeBackend, _: &dyn ComputeMemory) -> Result<Self> {
        Ok(self)
    }

    /// Writes it from host memory, for a backend that cannot use host memory as an argument or has no such kernel.
    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()>;
}

impl MemoryDesc for Plane {
    fn span(&self) -> Span {
        self.span
    }
}

impl Content for Plane {
    fn source(desc: &SurfaceDesc) -> KernelSource {
        Self::source(desc)
    }

    fn work(&self) -> String {
        self.work()
    }

    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory, table: Option<&'a dyn ComputeMemory>) -> Vec<Arg<'a>> {
        self.arguments(memory, table)
    }

    fn table(&self) -> Option<&'static [u8]> {
        self.table()
    }

    fn measured(
        self,
        gauge: &mut Option<Gauge>,
        backend: &dyn ComputeBackend,
        memory: &dyn ComputeMemory,
    ) -> Result<Self> {
        if self.range.fixed().is_some() || self.span.place == MemoryLocation::Host {
            return Ok(self);
        }
        let gauge = match gauge {
            Some(gauge) => gauge,
            none => none.insert(Gauge::new(backend)?),
        };
        gauge.measure(self, backend, memory)
    }

    fn write(&self, to: Target<'_>, bytes: &[u8]) -> Result<()> {
        self.write(to, bytes)
    }
}
