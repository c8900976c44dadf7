//! What an expression must be for the arrays that compute it.

use super::program::Bound;
use crate::context::Arrays;
use crate::element::ElementType;
use interop_core::{Error, Result};

impl Arrays {
    /// That the expression's arrays belong here and have this shape.
    pub(crate) fn check_shape(&self, bound: &Bound<'_>, shape: &[usize], operation: &'static str) -> Result<()> {
        if let Some(arrays) = bound.arrays() {
            self.check_same(arrays, operation)?;
        }
        match bound.shape().filter(|s| *s != shape) {
            None => Ok(()),
            Some(other) => Err(Error::invalid(
                operation,
                format!("the expression's shape is {other:?}, the result's is {shape:?}; View::broadcast_to repeats"),
            )),
        }
    }

    pub(crate) fn check_kinds(&self, bound: &Bound<'_>, operation: &'static str) -> Result<()> {
        if bound.program.uses(ElementType::F64) { self.check_kind(ElementType::F64, operation) } else { Ok(()) }
    }
}

pub(crate) fn no_shape(operation: &'static str) -> Error {
    Error::invalid(operation, "the expression has no array that would give it a shape; use Arrays::tabulate first")
}
