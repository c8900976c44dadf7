//! Lookup of the memory that a backend wrapped, for backends that wrap another.

use interop_core::{Arg, ComputeMemory, Error, Result, Target};
use std::marker::PhantomData;

/// Memory that wraps other memory.
#[doc(hidden)]
pub trait Wraps: ComputeMemory + Sized {
    /// Returns what kernels read.
    fn inner(&self) -> &dyn ComputeMemory;

    /// Returns what kernels or the host are about to write.
    fn inner_mut(&mut self) -> &mut dyn ComputeMemory;
}

/// Finds the wrapped memory, and names the device where a memory is none of the wrapping backend's.
#[doc(hidden)]
pub struct WrappedMemory<M>(String, PhantomData<fn() -> M>);

impl<M: Wraps> WrappedMemory<M> {
    /// For a device of this name.
    pub fn of(device: String) -> Self {
        Self(device, PhantomData)
    }

    fn foreign(&self, operation: &'static str) -> Error {
        Error::Foreign { operation, object: "memory", device: self.0.clone() }
    }

    /// To be read.
    pub fn memory<'m>(&self, memory: &'m dyn ComputeMemory, operation: &'static str) -> Result<&'m dyn ComputeMemory> {
        memory.downcast_ref::<M>().map(M::inner).ok_or_else(|| self.foreign(operation))
    }

    /// To be written.
    pub fn memory_mut<'m>(
        &self,
        memory: &'m mut dyn ComputeMemory,
        operation: &'static str,
    ) -> Result<&'m mut dyn ComputeMemory> {
        memory.downcast_mut::<M>().map(M::inner_mut).ok_or_else(|| self.foreign(operation))
    }

    /// The same place in the wrapped memory.
    pub fn target<'m>(&self, target: Target<'m>, operation: &'static str) -> Result<Target<'m>> {
        target.within(|memory| self.memory_mut(memory, operation))
    }

    /// The same arguments with the wrapped memory among them.
    pub fn args<'m>(&self, args: &[Arg<'m>], operation: &'static str) -> Result<Vec<Arg<'m>>> {
        let arg = |arg: &Arg<'m>| match *arg {
            Arg::Memory(memory) => self.memory(memory, operation).map(Arg::Memory),
            other => Ok(other),
        };
        args.iter().map(arg).collect()
    }
}
