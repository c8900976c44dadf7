//! Parts of arrays, and arrays with reordered axes.

use crate::array::Array;
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{Expr, Leaf, Node};
use crate::layout::Layout;
use crate::store::Store;
use interop_core::Result;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

/// A view of an array's elements with its own order; nothing is copied. Every method has the errors of the method of
/// [`Layout`] with the same name.
pub struct View<'a, T: Element> {
    arrays: &'a Arrays,
    store: &'a Store,
    layout: Rc<Layout>,
    _type: PhantomData<T>,
}

impl<T: Element> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        Self { layout: Rc::clone(&self.layout), ..*self }
    }
}

impl<'a, T: Element> View<'a, T> {
    pub(crate) fn new(arrays: &'a Arrays, store: &'a Store, layout: Rc<Layout>) -> Self {
        Self { arrays, store, layout, _type: PhantomData }
    }

    fn with(&self, layout: Layout) -> Self {
        Self { layout: Rc::new(layout), ..*self }
    }

    /// Returns shape, strides and offset.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the lengths of the axes, the slowest first.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Returns true where there are no elements.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Selects the indices `range` of one axis.
    ///
    /// # Errors
    /// The errors of [`Layout::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        self.slice_step(axis, range, 1)
    }

    /// Selects every `step`-th index of `range`, starting at its end if `step` is negative.
    ///
    /// # Errors
    /// The errors of [`Layout::slice`].
    pub fn slice_step(&self, axis: usize, range: Range<usize>, step: isize) -> Result<Self> {
        self.layout.slice(axis, range, step).map(|layout| self.with(layout))
    }

    /// Reverses the order of the axes.
    #[must_use]
    pub fn transpose(&self) -> Self {
        self.with(self.layout.transpose())
    }

    /// Reorders the axes.
    ///
    /// # Errors
    /// The errors of [`Layout::permute`].
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
        self.layout.permute(axes).map(|layout| self.with(layout))
    }

    /// Changes the shape, in place.
    ///
    /// # Errors
    /// The errors of [`Layout::reshape`].
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        self.layout.reshape(shape).map(|layout| self.with(layout))
    }

    /// Repeats axes of length 1.
    ///
    /// # Errors
    /// The errors of [`Layout::broadcast_to`].
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self> {
        self.layout.broadcast_to(shape).map(|layout| self.with(layout))
    }

    /// Copies one element to the host. Waits.
    ///
    /// # Errors
    /// The errors of [`Layout::position`]; errors of the backend.
    pub fn item(&self, index: &[usize]) -> Result<T> {
        let position = self.layout.position(index)?;
        Array::<T>::read_at(self.store, position, "View::item")
    }

    /// Returns the elements as an expression.
    pub fn expr(self) -> Expr<'a, T> {
        Expr::node(Node::Leaf(Leaf { arrays: self.arrays.clone(), store: self.store, layout: self.layout }))
    }

    /// Copies the elements to a contiguous array.
    ///
    /// # Errors
    /// The errors of [`Arrays::eval`].
    pub fn contiguous(&self) -> Result<Array<T>> {
        self.arrays.eval(self)
    }

    /// Copies the elements to the host, in the view's order. Waits.
    ///
    /// # Errors
    /// The errors of [`Arrays::eval`].
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.contiguous()?.to_vec()
    }
}

impl<T: Element> Array<T> {
    /// Returns a view of all elements, for slicing, transposing, and use in an expression.
    pub fn view(&self) -> View<'_, T> {
        View::new(self.arrays(), &self.store, Rc::clone(&self.layout))
    }
}
