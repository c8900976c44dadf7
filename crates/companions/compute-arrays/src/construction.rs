//! Creation of arrays: from values of the host, uninitialised, and from existing memory.

use crate::array::Array;
use crate::context::Arrays;
use crate::element::Element;
use crate::layout::{Layout, count};
use crate::store::Store;
use interop_core::{ComputeMemory, Error, Result};

impl Arrays {
    /// Creates an array with one axis from values of the host.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device lacks the type; errors of the backend.
    pub fn from_slice<T: Element>(&self, values: &[T]) -> Result<Array<T>> {
        let mut array = self.empty(&[values.len()])?;
        array.write(values)?;
        Ok(array)
    }

    /// Creates an array with arbitrary content.
    ///
    /// # Errors
    /// The errors of [`Arrays::from_slice`]; [`Error::InvalidInput`] for a shape that is too large to count.
    pub fn empty<T: Element>(&self, shape: &[usize]) -> Result<Array<T>> {
        self.check_kind(T::KIND, "Arrays::empty")?;
        let bytes = count(shape)?.checked_mul(size_of::<T>()).ok_or_else(|| {
            Error::invalid("Arrays::empty", format!("shape {shape:?} has more bytes than can be counted"))
        })?;
        let memory = if bytes == 0 { None } else { Some(self.allocate(bytes)?) };
        Ok(Array::new(self.without_queue_context(), Store::new(memory), Layout::contiguous(shape)?))
    }

    /// Makes an array of the backend's memory, from its first elements, as many as `shape` has.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the memory is too small. Memory of another backend is rejected
    /// ([`Error::Foreign`]) at its first use.
    pub fn from_memory<T: Element>(&self, memory: Box<dyn ComputeMemory>, shape: &[usize]) -> Result<Array<T>> {
        const OP: &str = "Arrays::from_memory";
        self.check_kind(T::KIND, OP)?;
        let wanted = count(shape)?.checked_mul(size_of::<T>());
        if wanted.is_none_or(|bytes| bytes > memory.len()) {
            let problem = format!("{} bytes are too few for shape {shape:?} of {}", memory.len(), T::KIND);
            return Err(Error::invalid(OP, problem));
        }
        Ok(Array::new(self.without_queue_context(), Store::new(Some(memory)), Layout::contiguous(shape)?))
    }
}
