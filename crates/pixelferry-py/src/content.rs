//! Processing of an array in a frame.

use crate::raw::memory::Lies;
use pixelferry::{Arg, ComputeBackend, ComputeMemory, KernelSource, Result, SurfaceDesc, Target};
use pixelferry_look::{Gauge, Place, Plane, Span};

/// An array that a frame is made of.
pub trait Content: Lies {
    /// The kernel that makes it, for a surface that takes it.
    fn source(desc: &SurfaceDesc) -> KernelSource;

    /// Name of the work that it is to write the array: all that its time depends on but the size.
    fn work(&self) -> String;

    /// The kernel's arguments; `memory` is that of the array, `table` has the bytes of [`Content::table`].
    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory, table: Option<&'a dyn ComputeMemory>) -> Vec<Arg<'a>>;

    /// Bytes that the kernel takes besides.
    fn table(&self) -> Option<&'static [u8]> {
        None
    }

    /// With what only the array's numbers tell, which are in memory of that device.
    fn measured(self, _: &mut Option<Gauge>, _: &dyn ComputeBackend, _: &dyn ComputeMemory) -> Result<Self> {
        Ok(self)
    }

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

    fn work(&self) -> String {
        self.work()
    }

    fn arguments<'a>(&self, memory: &'a dyn ComputeMemory, table: Option<&'a dyn ComputeMemory>) -> Vec<Arg<'a>> {
        self.arguments(memory, table)
    }

    fn table(&self) -> Option<&'static [u8]> {
        self.table().map(|table| table.as_flattened())
    }

    fn measured(
        self,
        gauge: &mut Option<Gauge>,
        backend: &dyn ComputeBackend,
        memory: &dyn ComputeMemory,
    ) -> Result<Self> {
        if self.range.fixed().is_some() || self.span.place == Place::Host {
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
