//! Arrays that GLSL declares without a size, as in `float a[] = float[](1.0, 2.0)`: their size is that of their first
//! value (GLSL 4.60, section 4.1.9), which naga ignores.

use naga::{Arena, ArraySize, Block, Constant, Expression, Function, Handle, LocalVariable, Module, Statement, Type};
use naga::{TypeInner, UniqueArena};

/// Gives constants and variables of such types the type of their first value.
pub fn size_arrays(module: &mut Module) {
    let Module { types, constants, global_variables, global_expressions, functions, .. } = module;
    for (_, constant) in constants.iter_mut().filter(|(_, constant)| is_unsized(types, constant.ty)) {
        if let Expression::Compose { ty, .. } = global_expressions[constant.init] {
            constant.ty = ty;
        }
    }
    for (_, variable) in global_variables.iter_mut().filter(|(_, variable)| is_unsized(types, variable.ty)) {
        if let Some(ty) = variable.init.and_then(|init| made(&global_expressions[init], constants)) {
            variable.ty = ty;
        }
    }
    for (_, function) in functions.iter_mut() {
        let Function { local_variables, expressions, body, .. } = function;
        for (handle, variable) in local_variables.iter_mut().filter(|(_, variable)| is_unsized(types, variable.ty)) {
            let value = variable.init.or_else(|| first_stored(body, handle, expressions));
            if let Some(ty) = value.and_then(|value| made(&expressions[value], constants)) {
                variable.ty = ty;
            }
        }
    }
}

fn is_unsized(types: &UniqueArena<Type>, ty: Handle<Type>) -> bool {
    matches!(types[ty].inner, TypeInner::Array { size: ArraySize::Dynamic, .. })
}

/// Returns the type of an array value that is a constructor or a constant.
fn made(value: &Expression, constants: &Arena<Constant>) -> Option<Handle<Type>> {
    match value {
        Expression::Compose { ty, .. } => Some(*ty),
        Expression::Constant(constant) => Some(constants[*constant].ty),
        _ => None,
    }
}

/// Returns the first value that is stored to the variable, in the order of the text.
fn first_stored(
    block: &Block,
    variable: Handle<LocalVariable>,
    expressions: &Arena<Expression>,
) -> Option<Handle<Expression>> {
    let within = |block| first_stored(block, variable, expressions);
    block.iter().find_map(|statement| match statement {
        Statement::Store { pointer, value } if expressions[*pointer] == Expression::LocalVariable(variable) => {
            Some(*value)
        }
        Statement::Block(block) => within(block),
        Statement::If { accept, reject, .. } => within(accept).or_else(|| within(reject)),
        Statement::Switch { cases, .. } => cases.iter().find_map(|case| within(&case.body)),
        Statement::Loop { body, continuing, .. } => within(body).or_else(|| within(continuing)),
        _ => None,
    })
}
