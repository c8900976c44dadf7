//! Associative operations with an identity.

use crate::cpu::{Arith, CpuProgram};
use crate::element::{Constant, Element};
use crate::expr::{Access, Binary, BoundProgram, Expr, Node, Program, ProgramStep, Role};
use crate::layout::Layout;
use interop_core::Result;
use std::sync::Arc;

/// A monoid that combines values: `f(f(a, b), c) == f(a, f(b, c))`, and `f(identity, a) == f(a, identity) == a`.
#[derive(Clone)]
pub struct Monoid<T: Element> {
    identity: T,
    operation: Operation,
    /// `a op b` as a program.
    definition: Arc<CpuProgram>,
}

/// Whether a running value includes its own element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scan {
    /// `f(x0, .., xi)`.
    Inclusive,
    /// `f(x0, .., xi-1)`; the identity first.
    Exclusive,
}

/// Loops for it on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Sum,
    Product,
    Min,
    Max,
    Own,
}

impl<T: Element> std::fmt::Debug for Monoid<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = &self.definition.program.steps;
        f.debug_struct("Monoid").field("identity", &self.identity).field("steps", steps).finish()
    }
}

impl<T: Element> Monoid<T> {
    /// Creates a monoid from an operation, such as `Monoid::new(0u32, |a, b| a ^ b)`. Reductions also need it to be
    /// commutative; scans do not.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] where the expression contains an array or an index, or is too deep.
    pub fn new<'a>(identity: T, f: impl FnOnce(Expr<'a, T>, Expr<'a, T>) -> Expr<'a, T>) -> Result<Self> {
        let bound = BoundProgram::new(&f(side(0), side(1)).tree, Role::Monoid, "Monoid::new")?;
        let definition = CpuProgram::new(bound.program, bound.constants, side_layouts());
        Ok(Self { identity, operation: Operation::Own, definition: Arc::new(definition) })
    }

    fn known(identity: T, operation: Operation, op: Binary) -> Self {
        // It has only two sides and one step, which is always valid.
        let sides = [T::KIND; 2].map(|kind| (kind, Access::Linear)).to_vec();
        let load = |side| (ProgramStep::Load(side), T::KIND);
        let steps = vec![load(0), load(1), (ProgramStep::Binary(op, 0, 1), T::KIND)];
        let program = Program { steps, leaves: sides };
        let definition = Arc::new(CpuProgram::new(program, Vec::new(), side_layouts()));
        Self { identity, operation, definition }
    }

    /// `+`, from 0.
    pub fn sum() -> Self {
        Self::known(T::ZERO, Operation::Sum, Binary::Add)
    }

    /// `*`, from 1.
    pub fn product() -> Self {
        Self::known(T::ONE, Operation::Product, Binary::Mul)
    }

    /// The smaller value, starting with the type's largest; for floats starting with NaN, which every number replaces.
    pub fn min() -> Self {
        Self::known(<T as Arith>::MOST, Operation::Min, Binary::Min)
    }

    /// The larger value, starting with the type's smallest; for floats starting with NaN, which every number replaces.
    pub fn max() -> Self {
        Self::known(<T as Arith>::LEAST, Operation::Max, Binary::Max)
    }

    /// Returns the identity, which changes no value.
    pub fn identity(&self) -> T {
        self.identity
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    pub(crate) fn definition(&self) -> &Arc<CpuProgram> {
        &self.definition
    }

    /// Identity and definition, for texts of kernels.
    pub(crate) fn parts(&self) -> (Constant, &CpuProgram) {
        (self.identity.constant(), &self.definition)
    }
}

fn side<'a, T: Element>(number: usize) -> Expr<'a, T> {
    Expr::node(Node::Side(number))
}

fn side_layouts() -> Vec<Layout> {
    vec![Layout::single(); 2]
}
