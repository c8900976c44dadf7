//! Memory of the backend's double.

use crate::faults::Faults;
use interop_core::{Arg, ComputeMemory, Error, Result, SyncKind, Target};
use std::ops::Range;

/// The backend's memory, wrapped.
pub(crate) struct MemoryDouble {
    pub inner: Box<dyn ComputeMemory>,
    pub faults: Faults,
}

/// Finds the wrapped memory, and names the device where a memory is none of the double's.
#[derive(Clone)]
pub(crate) struct Wrapped {
    pub device: String,
}

impl Wrapped {
    fn foreign(&self, operation: &'static str) -> Error {
        Error::Foreign { operation, object: "memory", device: self.device.clone() }
    }

    pub fn memory<'m>(&self, memory: &'m dyn ComputeMemory, operation: &'static str) -> Result<&'m dyn ComputeMemory> {
        let double = memory.downcast_ref::<MemoryDouble>();
        double.map(|m| m.inner.as_ref()).ok_or_else(|| self.foreign(operation))
    }

    pub fn memory_mut<'m>(
        &self,
        memory: &'m mut dyn ComputeMemory,
        operation: &'static str,
    ) -> Result<&'m mut dyn ComputeMemory> {
        let double = memory.downcast_mut::<MemoryDouble>();
        double.map(|m| m.inner.as_mut()).ok_or_else(|| self.foreign(operation))
    }

    pub fn target<'m>(&self, target: Target<'m>, operation: &'static str) -> Result<Target<'m>> {
        target.within(|memory| self.memory_mut(memory, operation))
    }

    pub fn args<'m>(&self, args: &[Arg<'m>], operation: &'static str) -> Result<Vec<Arg<'m>>> {
        let arg = |arg: &Arg<'m>| match *arg {
            Arg::Memory(memory) => self.memory(memory, operation).map(Arg::Memory),
            other => Ok(other),
        };
        args.iter().map(arg).collect()
    }
}

impl ComputeMemory for MemoryDouble {
    crate::forward! {
        & len() -> usize;
        Read after &mut read(offset: usize, into: &mut [u8]) -> Result<()>;
        Write after &mut write(offset: usize, from: &[u8]) -> Result<()>;
        MapRead before &mut map_read(range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
        MapWrite after &mut map_write(range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;
        SetSync before &mut set_sync(kind: SyncKind) -> Result<()>;
        Acquire before &mut acquire() -> Result<()>;
        Submit after &mut submit() -> Result<()>;
        Release after &mut release() -> Result<()>;
        ReleaseInQueue after &mut release_in_queue() -> Result<()>;
    }
}
