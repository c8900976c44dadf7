//! Typed memory of one backend.

use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{Bound, Expr, Node, Role};
use crate::layout::{Layout, count};
use crate::operations::elementwise;
use crate::view::View;
use bytemuck::{cast_slice, cast_slice_mut};
use interop_core::{ComputeMemory, Error, Result, Target};
use std::cell::{Ref, RefCell, RefMut};
use std::marker::PhantomData;
use std::rc::Rc;

/// Memory, or nothing where there are no elements: devices allocate no 0 bytes.
pub(crate) struct Store {
    memory: Option<RefCell<Box<dyn ComputeMemory>>>,
}

fn in_use(operation: &'static str) -> Error {
    Error::invalid(operation, "the array is being read or written by a call further up")
}

impl Store {
    pub fn new(memory: Option<Box<dyn ComputeMemory>>) -> Self {
        Self { memory: memory.map(RefCell::new) }
    }

    /// # Errors
    /// [`Error::InvalidInput`] where there is none, or it is in use.
    pub fn borrow(&self, operation: &'static str) -> Result<Ref<'_, Box<dyn ComputeMemory>>> {
        let memory = self.memory.as_ref().ok_or_else(|| Error::invalid(operation, "an array of no elements"))?;
        memory.try_borrow().map_err(|_| in_use(operation))
    }

    fn into_memory(self) -> Option<Box<dyn ComputeMemory>> {
        self.memory.map(RefCell::into_inner)
    }

    fn borrow_mut(&self, operation: &'static str) -> Result<Option<RefMut<'_, Box<dyn ComputeMemory>>>> {
        self.memory.as_ref().map(|m| m.try_borrow_mut().map_err(|_| in_use(operation))).transpose()
    }
}

/// Elements of one type in a backend's own memory, tightly packed in row-major order.
///
/// Made by [`Arrays`]. Views of it ([`Array::view`]) and expressions over it borrow it, so the compiler keeps what is
/// written apart from what is read; [`Array::update`] is for results that depend on the old content.
pub struct Array<T: Element> {
    arrays: Arrays,
    store: Store,
    layout: Rc<Layout>,
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

    /// Where it belongs.
    pub fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// True where there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Sides, slowest first.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// The same elements under another shape; nothing moves.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the number of elements differs.
    pub fn reshape(mut self, shape: &[usize]) -> Result<Self> {
        if count(shape)? != self.len() {
            return Err(Error::invalid(
                "Array::reshape",
                format!("{:?} has another number of elements than {shape:?}", self.shape()),
            ));
        }
        self.layout = Rc::new(Layout::contiguous(shape)?);
        Ok(self)
    }

    /// All elements, for slicing, transposing, and as part of an expression.
    pub fn view(&self) -> View<'_, T> {
        View::new(&self.arrays, &self.store, Rc::clone(&self.layout))
    }

    pub(crate) fn memory_mut(&self, operation: &'static str) -> Result<Option<RefMut<'_, Box<dyn ComputeMemory>>>> {
        if self.is_empty() { Ok(None) } else { self.store.borrow_mut(operation) }
    }

    /// Copies all elements to the host, after all work queued before. Waits.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.len()];
        self.read(&mut values)?;
        Ok(values)
    }

    /// As [`Array::to_vec`], into memory of the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the number of elements differs; what the backend reports.
    pub fn read(&self, into: &mut [T]) -> Result<()> {
        const OP: &str = "Array::read";
        self.check_len(into.len(), OP)?;
        self.memory_mut(OP)?.map_or(Ok(()), |mut memory| memory.read(0, cast_slice_mut(into)))
    }

    /// Replaces all elements by the host's. Waits until `from` may be reused.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn write(&mut self, from: &[T]) -> Result<()> {
        const OP: &str = "Array::write";
        self.check_len(from.len(), OP)?;
        self.memory_mut(OP)?.map_or(Ok(()), |mut memory| memory.write(0, cast_slice(from)))
    }

    /// Gives `f` the memory, whose first elements are the array's, for kernels and copies of the program's own
    /// ([`interop_core::Arg::Memory`]).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there are no elements; what `f` gives.
    pub fn with_memory<R>(&self, f: impl FnOnce(&dyn ComputeMemory) -> Result<R>) -> Result<R> {
        f(self.store.borrow("Array::with_memory")?.as_ref())
    }

    /// [`Array::with_memory`], to be written: as the target of a kernel of the program's own, for example.
    ///
    /// # Errors
    /// As there.
    pub fn with_memory_mut<R>(&mut self, f: impl FnOnce(&mut dyn ComputeMemory) -> Result<R>) -> Result<R> {
        const OP: &str = "Array::with_memory_mut";
        match self.memory_mut(OP)? {
            Some(mut memory) => f(memory.as_mut()),
            None => Err(Error::invalid(OP, "an array of no elements")),
        }
    }

    /// The memory, whose first elements were the array's; `None` where it had none. [`Arrays::from_memory`] is the way back.
    pub fn into_memory(self) -> Option<Box<dyn ComputeMemory>> {
        self.store.into_memory()
    }

    pub(crate) fn check_len(&self, len: usize, operation: &'static str) -> Result<()> {
        if len == self.len() {
            return Ok(());
        }
        Err(Error::invalid(operation, format!("the host has {len} elements, the array {}", self.len())))
    }

    pub(crate) fn read_at(store: &Store, position: usize, operation: &'static str) -> Result<T> {
        let mut value = [T::default()];
        if let Some(mut memory) = store.borrow_mut(operation)? {
            memory.read(position * size_of::<T>(), cast_slice_mut(&mut value))?;
        }
        Ok(value[0])
    }

    /// Replaces all elements by the expression's values. The expression cannot contain this array: see
    /// [`Array::update`].
    ///
    /// # Errors
    /// As [`Arrays::eval`]; [`Error::InvalidInput`] where the shapes differ.
    pub fn assign<'a>(&mut self, expr: impl Into<Expr<'a, T>>) -> Result<()> {
        self.assign_on(&self.arrays.clone(), &expr.into())
    }

    pub(crate) fn assign_on(&mut self, arrays: &Arrays, expr: &Expr<'_, T>) -> Result<()> {
        self.run(arrays, expr, Role::Plain, "Array::assign")
    }

    /// Replaces each element by what `f` makes of it, in place.
    ///
    /// ```no_run
    /// # fn f(mut a: compute_arrays::Array<f32>, b: compute_arrays::Array<f32>) -> interop_core::Result<()> {
    /// a.update(|old| old * 2.0 + &b)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Array::assign`].
    pub fn update<'a>(&mut self, f: impl FnOnce(Expr<'a, T>) -> Expr<'a, T>) -> Result<()> {
        self.update_on(&self.arrays.clone(), f)
    }

    pub(crate) fn update_on<'a>(&mut self, arrays: &Arrays, f: impl FnOnce(Expr<'a, T>) -> Expr<'a, T>) -> Result<()> {
        self.run(arrays, &f(Expr::node(Node::Old)), Role::Update, "Array::update")
    }

    fn run(&mut self, arrays: &Arrays, expr: &Expr<'_, T>, role: Role, operation: &'static str) -> Result<()> {
        let bound = Bound::new(&expr.tree, role, operation)?;
        arrays.check_same(&self.arrays, operation)?;
        arrays.check_shape(&bound, self.shape(), operation)?;
        match self.memory_mut(operation)? {
            None => Ok(()),
            Some(mut memory) => {
                let target = self.target(memory.as_mut())?;
                elementwise::run::<T>(arrays, &bound, target, self.len(), operation)
            }
        }
    }

    /// The elements in memory that may be longer.
    pub(crate) fn target<'m>(&self, memory: &'m mut dyn ComputeMemory) -> Result<Target<'m>> {
        let view = interop_core::BufferView { offset: 0, len: self.len() * size_of::<T>() };
        Target::new(memory, interop_core::View::Buffer(view))
    }
}
