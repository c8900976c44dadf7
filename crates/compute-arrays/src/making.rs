//! New arrays: of the host's values, of arbitrary content, of memory that is there.

use crate::array::Array;
use crate::context::Arrays;
use crate::element::Element;
use crate::layout::{Layout, count};
use crate::store::Store;
use interop_core::{ComputeMemory, Error, Result};

impl Arrays {
    /// An array with the host's values, of one axis.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device lacks the type, and what the backend reports.
    pub fn from_slice<T: Element>(&self, values: &[T]) -> Result<Array<T>> {
        let mut array = self.empty(&[values.len()])?;
        array.write(values)?;
        Ok(array)
    }

    /// An array whose content is arbitrary.
    ///
    /// # Errors
    /// The errors of [`Arrays::from_slice`]; [`Error::InvalidInput`] for a shape that cannot be counted.
    pub fn empty<T: Element>(&self, shape: &[usize]) -> Result<Array<T>> {
        self.check_kind(T::KIND, "Arrays::empty")?;
        let bytes = count(shape)?.checked_mul(size_of::<T>()).ok_or_else(|| {
            Error::invalid("Arrays::empty", format!("shape {shape:?} has more bytes than can be counted"))
        })?;
        let memory = if bytes == 0 { None } else { Some(self.allocate(bytes)?) };
        Ok(Array::new(self.without_queue_context(), Store::new(memory), Layout::contiguous(shape)?))
    }

    /// Memory of the backend as an array: its first elements, as many as `shape` has.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the memory is too small. Memory of another backend is found out
    /// ([`Error::Foreign`]) when it is first used.
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
