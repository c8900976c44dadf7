//! The arguments of an expression's kernel.

use crate::element::{Constant, Value};
use crate::expr::{Access, Bound};

/// An argument that belongs to an expression.
pub(crate) enum Parameter {
    /// The memory of this leaf.
    Leaf(usize),
    Number(Constant),
}

/// Values for `PF_PARAMS`, in its order.
pub(crate) fn parameters(bound: &Bound<'_>) -> Vec<Parameter> {
    let number = |value: i64| Parameter::Number(value.constant());
    let mut all = Vec::new();
    for (at, (leaf, (_, access))) in bound.leaves.iter().zip(&bound.program.leaves).enumerate() {
        all.push(Parameter::Leaf(at));
        all.push(number(leaf.layout.offset() as i64));
        if let Access::Strided(_) = access {
            let axes = leaf.layout.collapsed();
            all.extend(axes.iter().skip(1).map(|(side, _)| number(*side as i64)));
            all.extend(axes.iter().map(|(_, stride)| number(*stride as i64)));
        }
    }
    all.extend(bound.constants.iter().map(|c| Parameter::Number(*c)));
    all
}
