//! The arguments of an expression's kernel.

use super::{Dialect, narrow};
use crate::element::{Constant, Value};
use crate::expr::{Access, BoundProgram};

/// An argument that belongs to an expression.
pub(crate) enum Parameter {
    /// The memory of this leaf.
    Leaf(usize),
    Number(Constant),
}

/// Returns the arguments of an expression's kernel, in the order of its text. `before`: the number of the kernel's own
/// numbers.
pub(crate) fn parameters(dialect: Dialect, bound: &BoundProgram<'_>, before: usize) -> Vec<Parameter> {
    let all = ordered(bound, |value| match dialect {
        Dialect::C(_) => value.constant(),
        Dialect::Wgsl => narrow::place(value),
    });
    let mut room = match dialect {
        Dialect::C(_) => usize::MAX,
        // Constants beyond the limit are written into the text.
        Dialect::Wgsl => narrow::MOST_NUMBERS.saturating_sub(before),
    };
    let mut fits = |parameter: &Parameter| match parameter {
        Parameter::Leaf(_) => true,
        Parameter::Number(_) => {
            let fits = room > 0;
            room = room.saturating_sub(1);
            fits
        }
    };
    all.into_iter().filter(|parameter| fits(parameter)).collect()
}

/// Returns the parameters in order: for each leaf its memory, its offset and its strides; then the constants.
pub(super) fn ordered(bound: &BoundProgram<'_>, place: impl Fn(i64) -> Constant) -> Vec<Parameter> {
    let number = |value: i64| Parameter::Number(place(value));
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
