//! Checks of an expression against the arrays that compute it.

use super::program::{Bound, Step};
use crate::context::Arrays;
use crate::element::ElementType;
use crate::text::{Dialect, narrow};
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

    /// That so many elements can be counted there.
    pub(crate) fn check_count(&self, elements: usize, operation: &'static str) -> Result<()> {
        if self.dialect() != Some(Dialect::Wgsl) || elements < narrow::MOST_ELEMENTS {
            return Ok(());
        }
        let reason = format!(
            "kernels in WGSL count fewer than {} elements, and these are {elements}; compute parts of them",
            narrow::MOST_ELEMENTS
        );
        Err(Error::Unsupported { operation, device: self.backend().device().to_string(), reason })
    }

    pub(crate) fn check_kinds(&self, bound: &Bound<'_>, operation: &'static str) -> Result<()> {
        if self.dialect() != Some(Dialect::Wgsl) {
            return if bound.program.uses(ElementType::F64) {
                self.check_kind(ElementType::F64, operation)
            } else {
                Ok(())
            };
        }
        // An index alone is counted with 32 bits; what is computed with it is not.
        let steps = bound.program.steps.iter().filter(|(step, _)| *step != Step::Index);
        steps.map(|(_, kind)| *kind).try_for_each(|kind| self.check_kind(kind, operation))
    }
}

pub(crate) fn no_shape(operation: &'static str) -> Error {
    Error::invalid(operation, "the expression has no array that would give it a shape; use Arrays::tabulate first")
}
