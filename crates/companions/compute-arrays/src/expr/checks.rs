//! Checks of an expression against the arrays that evaluate it.

use super::program::{BoundProgram, ProgramStep};
use crate::context::Arrays;
use crate::element::ElementType;
use crate::text::{Dialect, narrow};
use interop_core::{Error, Result};

impl Arrays {
    /// Checks that the expression's arrays belong here and have this shape.
    pub(crate) fn check_shape(&self, bound: &BoundProgram<'_>, shape: &[usize], operation: &'static str) -> Result<()> {
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

    /// Checks that this number of elements can be counted here.
    pub(crate) fn check_count(&self, elements: usize, operation: &'static str) -> Result<()> {
        if self.dialect() != Some(Dialect::Wgsl) || elements < narrow::MOST_ELEMENTS {
            return Ok(());
        }
        let reason = format!(
            "WGSL kernels support fewer than {} elements, and these are {elements}; compute them in parts",
            narrow::MOST_ELEMENTS
        );
        Err(Error::Unsupported { operation, device: self.backend().device().to_string(), reason })
    }

    pub(crate) fn check_kinds(&self, bound: &BoundProgram<'_>, operation: &'static str) -> Result<()> {
        if self.dialect() != Some(Dialect::Wgsl) {
            return if bound.program.uses(ElementType::F64) {
                self.check_kind(ElementType::F64, operation)
            } else {
                Ok(())
            };
        }
        // Only an index used directly is counted in 32 bits; values computed from it are not.
        let steps = bound.program.steps.iter().filter(|(step, _)| *step != ProgramStep::Index);
        steps.map(|(_, kind)| *kind).try_for_each(|kind| self.check_kind(kind, operation))
    }
}

pub(crate) fn no_shape(operation: &'static str) -> Error {
    Error::invalid(operation, "the expression has no array to determine its shape; use Arrays::tabulate first")
}
