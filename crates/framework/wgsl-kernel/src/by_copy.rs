//! Vector components as `inout` or `out` arguments: each is copied to a variable before the call and back after it.
//! This is what `inout` and `out` mean in GLSL (4.60, section 6.1.1); WGSL has no pointers to components.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    Block, Expression, Function, Handle, LocalVariable, Module, Range, Scalar, Span, Statement, Type, TypeInner,
    UniqueArena,
};
use std::collections::HashMap;

type Expr = Handle<Expression>;

/// Rewrites the calls. Returns true if there were any; `info` is then outdated.
pub fn copy_components(module: &mut Module, info: &ModuleInfo) -> bool {
    let Module { functions, types, .. } = module;
    let mut has_any = false;
    for (handle, function) in functions.iter_mut() {
        let components = components(function, &info[handle], types);
        let mut body = std::mem::take(&mut function.body);
        let mut copies = Copies { function, components, types, has_any: false };
        copies.block(&mut body);
        has_any |= copies.has_any;
        function.body = body;
    }
    has_any
}

/// Returns all expressions that point to a component.
fn components(function: &Function, info: &FunctionInfo, types: &UniqueArena<Type>) -> HashMap<Expr, Scalar> {
    let scalar = |expression: Expr| match info[expression].ty.inner_with(types) {
        TypeInner::ValuePointer { size: None, scalar, .. } => Some((expression, *scalar)),
        _ => None,
    };
    function.expressions.iter().filter_map(|(expression, _)| scalar(expression)).collect()
}

struct Copies<'a> {
    function: &'a mut Function,
    components: HashMap<Expr, Scalar>,
    types: &'a mut UniqueArena<Type>,
    /// True once a call was rewritten.
    has_any: bool,
}

impl Copies<'_> {
    fn block(&mut self, block: &mut Block) {
        for (mut statement, span) in std::mem::take(block).span_into_iter() {
            let mut behind = Block::new();
            match &mut statement {
                Statement::Block(inner) => self.block(inner),
                Statement::If { accept, reject, .. } => {
                    [accept, reject].into_iter().for_each(|inner| self.block(inner))
                }
                Statement::Switch { cases, .. } => cases.iter_mut().for_each(|case| self.block(&mut case.body)),
                Statement::Loop { body, continuing, .. } => {
                    [body, continuing].into_iter().for_each(|inner| self.block(inner))
                }
                Statement::Call { arguments, .. } => {
                    for argument in arguments {
                        let Some(scalar) = self.components.get(argument) else { continue };
                        self.has_any = true;
                        let ty = Type { name: None, inner: TypeInner::Scalar(*scalar) };
                        let ty = self.types.insert(ty, Span::default());
                        let local = LocalVariable { name: None, ty, init: None };
                        let local = self.function.local_variables.append(local, span);
                        let local = self.append(Expression::LocalVariable(local), span);
                        let component = std::mem::replace(argument, local);
                        self.copy(block, component, local, span);
                        self.copy(&mut behind, local, component, span);
                    }
                }
                _ => {}
            }
            block.push(statement, span);
            behind.span_into_iter().for_each(|(statement, span)| block.push(statement, span));
        }
    }

    fn copy(&mut self, block: &mut Block, pointer: Expr, to: Expr, span: Span) {
        let value = self.append(Expression::Load { pointer }, span);
        block.push(Statement::Emit(Range::new_from_bounds(value, value)), span);
        block.push(Statement::Store { pointer: to, value }, span);
    }

    fn append(&mut self, expression: Expression, span: Span) -> Expr {
        self.function.expressions.append(expression, span)
    }
}
