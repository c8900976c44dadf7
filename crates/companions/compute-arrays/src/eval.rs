//! Expressions whose values are written to arrays and other memory.

use crate::array::Array;
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{BoundProgram, Expr, Node, Role, no_shape};
use crate::layout::elements;
use crate::operations::elementwise;
use interop_core::{BufferView, Error, Result, Target, View};

impl Arrays {
    /// Computes the expression's values into a new array, in one kernel. Its shape is that of the arrays in the
    /// expression.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the expression has no array (give a shape with [`Arrays::tabulate`]) or arrays of
    /// different shapes; [`Error::Foreign`] for arrays of another `Arrays`; otherwise errors of the backend.
    pub fn eval<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<Array<T>> {
        const OP: &str = "Arrays::eval";
        let bound = BoundProgram::new(&expr.into().tree, Role::Plain, OP)?;
        let shape = bound.shape().map(<[usize]>::to_vec).ok_or_else(|| no_shape(OP))?;
        self.fill(&shape, &bound, OP)
    }

    /// Computes an array of a given shape from an expression that need not contain an array: a number, or
    /// [`Expr::index`].
    ///
    /// ```no_run
    /// # fn f(arrays: &compute_arrays::Arrays) -> interop_core::Result<()> {
    /// use compute_arrays::Expr;
    /// let ramp = arrays.tabulate(&[1000], Expr::index().cast::<f32>() * 0.001)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Arrays::eval`].
    pub fn tabulate<'a, T: Element>(&self, shape: &[usize], expr: impl Into<Expr<'a, T>>) -> Result<Array<T>> {
        const OP: &str = "Arrays::tabulate";
        self.fill(shape, &BoundProgram::new(&expr.into().tree, Role::Plain, OP)?, OP)
    }

    fn fill<T: Element>(&self, shape: &[usize], bound: &BoundProgram<'_>, operation: &'static str) -> Result<Array<T>> {
        let array = self.empty(shape)?;
        self.check_shape(bound, shape, operation)?;
        if let Some(mut memory) = array.memory_mut(operation)? {
            let target = Target::buffer(memory.as_mut());
            elementwise::run::<T>(self, bound, target, array.len(), operation)?;
        }
        Ok(array)
    }

    /// Writes the expression's values to a buffer target: a frame of a link (`arrays.write(frame.target()?, &expr)`),
    /// or a part of other memory. The target must hold exactly as many elements as the expression's arrays have.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an image target, for a target that does not begin and end at an element, and for a
    /// different number of elements; otherwise as [`Arrays::eval`].
    pub fn write<'a, T: Element>(&self, target: Target<'_>, expr: impl Into<Expr<'a, T>>) -> Result<()> {
        const OP: &str = "Arrays::write";
        self.check_kind(T::KIND, OP)?;
        let bound = BoundProgram::new(&expr.into().tree, Role::Plain, OP)?;
        let View::Buffer(BufferView { offset, len }) = target.view() else {
            return Err(Error::invalid(OP, "the target is an image; expressions are written to buffers"));
        };
        let size = size_of::<T>();
        if !offset.is_multiple_of(size) || !len.is_multiple_of(size) {
            return Err(Error::invalid(
                OP,
                format!("the target, bytes {offset}..{}, is not a whole number of {} elements", offset + len, T::KIND),
            ));
        }
        let len = len / size;
        if let Some(arrays) = bound.arrays() {
            self.check_same(arrays, OP)?;
        }
        if let Some(shape) = bound.shape().filter(|shape| elements(shape) != len) {
            return Err(Error::invalid(
                OP,
                format!("the target has {len} elements, the expression's shape is {shape:?}"),
            ));
        }
        if len == 0 { Ok(()) } else { elementwise::run::<T>(self, &bound, target, len, OP) }
    }
}

impl<T: Element> Array<T> {
    /// Replaces all elements by the expression's values. The expression cannot contain this array: see
    /// [`Array::update`].
    ///
    /// # Errors
    /// The errors of [`Arrays::eval`]; [`Error::InvalidInput`] where the shapes differ.
    pub fn assign<'a>(&mut self, expr: impl Into<Expr<'a, T>>) -> Result<()> {
        self.assign_on(&self.arrays().clone(), &expr.into())
    }

    pub(crate) fn assign_on(&mut self, arrays: &Arrays, expr: &Expr<'_, T>) -> Result<()> {
        self.run(arrays, expr, Role::Plain, "Array::assign")
    }

    /// Replaces each element by the value that `f` computes from it, in place.
    ///
    /// ```no_run
    /// # fn f(mut a: compute_arrays::Array<f32>, b: compute_arrays::Array<f32>) -> interop_core::Result<()> {
    /// a.update(|old| old * 2.0 + &b)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Array::assign`].
    pub fn update<'a>(&mut self, f: impl FnOnce(Expr<'a, T>) -> Expr<'a, T>) -> Result<()> {
        self.update_on(&self.arrays().clone(), f)
    }

    pub(crate) fn update_on<'a>(&mut self, arrays: &Arrays, f: impl FnOnce(Expr<'a, T>) -> Expr<'a, T>) -> Result<()> {
        self.run(arrays, &f(Expr::node(Node::Old)), Role::Update, "Array::update")
    }

    fn run(&mut self, arrays: &Arrays, expr: &Expr<'_, T>, role: Role, operation: &'static str) -> Result<()> {
        let bound = BoundProgram::new(&expr.tree, role, operation)?;
        arrays.check_same(self.arrays(), operation)?;
        arrays.check_shape(&bound, self.shape(), operation)?;
        match self.memory_mut(operation)? {
            None => Ok(()),
            Some(mut memory) => {
                let target = self.target(memory.as_mut())?;
                elementwise::run::<T>(arrays, &bound, target, self.len(), operation)
            }
        }
    }
}
