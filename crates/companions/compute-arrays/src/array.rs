//! Typed memory of one backend.

use crate::context::Arrays;
use crate::element::Element;
use crate::layout::{Layout, count};
use crate::store::Store;
use bytemuck::{cast_slice, cast_slice_mut};
use interop_core::{ComputeMemory, Error, Result, Target};
use std::cell::RefMut;
use std::marker::PhantomData;
use std::rc::Rc;

/// Elements of one type in a backend's memory, tightly packed in row-major order.
///
/// [`Arrays`] creates it. Views of it ([`Array::view`]) and expressions over it borrow it, so the compiler keeps
/// written arrays separate from read ones. Use [`Array::update`] for results that depend on the old content.
pub struct Array<T: Element> {
    arrays: Arrays,
    pub(crate) store: Store,
    pub(crate) layout: Rc<Layout>,
    _type: PhantomData<T>,
}

impl<T: Element> std::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array").field("type", &T::KIND).field("shape", &self.shape()).field("of", &self.arrays).finish()
    }
}

impl<T: Element> Array<T> {
    pub(crate) fn new(arrays: Arrays, store: Store, layout: Layout) -> Self {
        Self { arrays, store, layout: Rc::new(layout), _type: PhantomData }
    }

    /// Returns the arrays to which it belongs.
    pub fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Returns true where the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Returns the lengths of the axes, the slowest first.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Changes the shape; no element is moved.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the number of elements differs.
    pub fn reshape(mut self, shape: &[usize]) -> Result<Self> {
        if count(shape)? != self.len() {
            return Err(Error::invalid(
                "Array::reshape",
                format!("{:?} and {shape:?} have different numbers of elements", self.shape()),
            ));
        }
        self.layout = Rc::new(Layout::contiguous(shape)?);
        Ok(self)
    }

    pub(crate) fn memory_mut(&self, operation: &'static str) -> Result<Option<RefMut<'_, Box<dyn ComputeMemory>>>> {
        if self.is_empty() { Ok(None) } else { self.store.borrow_mut(operation) }
    }

    /// Copies all elements to the host, after all earlier work. Waits.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.len()];
        self.read(&mut values)?;
        Ok(values)
    }

    /// Copies all elements into the caller's memory, after all earlier work. Waits.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the number of elements differs; errors of the backend.
    pub fn read(&self, into: &mut [T]) -> Result<()> {
        const OP: &str = "Array::read";
        self.check_len(into.len(), OP)?;
        self.memory_mut(OP)?.map_or(Ok(()), |mut memory| memory.read(0, cast_slice_mut(into)))
    }

    /// Replaces all elements by values of the host. Waits until `from` may be reused.
    ///
    /// # Errors
    /// The errors of [`Array::read`].
    pub fn write(&mut self, from: &[T]) -> Result<()> {
        const OP: &str = "Array::write";
        self.check_len(from.len(), OP)?;
        self.memory_mut(OP)?.map_or(Ok(()), |mut memory| memory.write(0, cast_slice(from)))
    }

    /// Gives `f` the memory, which begins with the array's elements, for kernels and copies of the program
    /// ([`interop_core::Arg::Memory`]).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the array has no elements; the error of `f`.
    pub fn with_memory<R>(&self, f: impl FnOnce(&dyn ComputeMemory) -> Result<R>) -> Result<R> {
        f(self.store.borrow("Array::with_memory")?.as_ref())
    }

    /// [`Array::with_memory`] for writing, for example as the target of a kernel of the program.
    ///
    /// # Errors
    /// The errors of [`Array::with_memory`].
    pub fn with_memory_mut<R>(&mut self, f: impl FnOnce(&mut dyn ComputeMemory) -> Result<R>) -> Result<R> {
        const OP: &str = "Array::with_memory_mut";
        match self.memory_mut(OP)? {
            Some(mut memory) => f(memory.as_mut()),
            None => Err(Error::invalid(OP, "the array has no elements")),
        }
    }

    /// Returns the memory, which begins with the array's elements; `None` if it had none. [`Arrays::from_memory`] is
    /// the reverse.
    pub fn into_memory(self) -> Option<Box<dyn ComputeMemory>> {
        self.store.into_memory()
    }

    pub(crate) fn check_len(&self, len: usize, operation: &'static str) -> Result<()> {
        if len == self.len() {
            return Ok(());
        }
        Err(Error::invalid(operation, format!("the host has {len} elements, but the array has {}", self.len())))
    }

    pub(crate) fn read_at(store: &Store, position: usize, operation: &'static str) -> Result<T> {
        let mut value = [T::default()];
        if let Some(mut memory) = store.borrow_mut(operation)? {
            memory.read(position * size_of::<T>(), cast_slice_mut(&mut value))?;
        }
        Ok(value[0])
    }

    /// Returns the elements as a target in memory that may be longer.
    pub(crate) fn target<'m>(&self, memory: &'m mut dyn ComputeMemory) -> Result<Target<'m>> {
        let view = interop_core::BufferView { offset: 0, len: self.len() * size_of::<T>() };
        Target::new(memory, interop_core::View::Buffer(view))
    }
}
