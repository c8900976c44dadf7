//! Rebuilds a function of naga with limits on its indices. naga numbers expressions in the order of their computation,
//! so that an additional one renumbers all that follow.

use naga::{
    Arena, BinaryOperator, Block, Expression, Function, Handle, Literal, MathFunction, Range, ScalarKind, Span,
    Statement, SwitchCase,
};
use std::collections::BTreeMap;

type Expr = Handle<Expression>;

/// An index as it appears in the function.
#[derive(Clone, Copy)]
pub enum Index {
    Constant(u32),
    Unsigned(Expr),
    /// A negative index counts as a large one.
    Signed(Expr),
}

/// The last element of the indexed object.
#[derive(Clone, Copy)]
pub enum Last {
    Known(u32),
    /// The length of the array is queried at run time.
    Asked,
}

/// A limited index, which replaces an expression: `base[min(index, last)]`.
#[derive(Clone, Copy)]
pub struct IndexLimit {
    pub base: Expr,
    pub index: Index,
    pub last: Last,
}

/// Returns the function with `limits`, which has one entry for each of its expressions.
///
/// # Errors
/// For a construct that kernels cannot use, such as images.
pub fn rebuilt(function: &Function, limits: &[Option<IndexLimit>]) -> Result<Function, String> {
    let mut new = Rebuild { arena: Arena::new(), literals: BTreeMap::new(), made: Vec::new(), span: Span::default() };
    // Literals come first: they are not computed, so they cannot be placed among computed expressions.
    for limit in limits.iter().flatten() {
        let last = match limit.last {
            Last::Known(last) => last,
            Last::Asked => 1,
        };
        new.literal(last);
        if let Index::Constant(index) = limit.index {
            new.literal(index);
        }
    }
    for ((old, expression), limit) in function.expressions.iter().zip(limits) {
        new.span = function.expressions.get_span(old);
        let first = new.arena.len();
        let made = match limit {
            Some(limit) => new.limited(limit)?,
            None => new.same(expression)?,
        };
        let itself = new.insert(made);
        let first = new.arena.iter().nth(first).map_or(itself, |(first, _)| first);
        new.made.push((first, itself));
    }
    let mut function = function.clone();
    for (_, local) in function.local_variables.iter_mut() {
        local.init = new.maybe(local.init)?;
    }
    let names = std::mem::take(&mut function.named_expressions);
    for (old, name) in names {
        function.named_expressions.insert(new.of(old)?, name);
    }
    function.body = new.block(&function.body)?;
    function.expressions = new.arena;
    Ok(function)
}

struct Rebuild {
    arena: Arena<Expression>,
    literals: BTreeMap<u32, Expr>,
    /// By old number: the first expression that was created for it, and the expression itself.
    made: Vec<(Expr, Expr)>,
    /// Span in the text for inserted code.
    span: Span,
}

impl Rebuild {
    fn insert(&mut self, expression: Expression) -> Expr {
        self.arena.append(expression, self.span)
    }

    fn literal(&mut self, value: u32) -> Expr {
        let Self { arena, literals, .. } = self;
        *literals
            .entry(value)
            .or_insert_with(|| arena.append(Expression::Literal(Literal::U32(value)), Span::default()))
    }

    fn limited(&mut self, limit: &IndexLimit) -> Result<Expression, String> {
        let base = self.of(limit.base)?;
        let index = match limit.index {
            Index::Constant(index) => self.literal(index),
            Index::Unsigned(index) => self.of(index)?,
            Index::Signed(index) => {
                let expr = self.of(index)?;
                self.insert(Expression::As { expr, kind: ScalarKind::Uint, convert: None })
            }
        };
        let last = match limit.last {
            Last::Known(last) => self.literal(last),
            Last::Asked => {
                let left = self.insert(Expression::ArrayLength(base));
                let right = self.literal(1);
                self.insert(Expression::Binary { op: BinaryOperator::Subtract, left, right })
            }
        };
        let least = Expression::Math { fun: MathFunction::Min, arg: index, arg1: Some(last), arg2: None, arg3: None };
        let index = self.insert(least);
        Ok(Expression::Access { base, index })
    }

    fn of(&self, old: Expr) -> Result<Expr, String> {
        self.made.get(old.index()).map(|(_, new)| *new).ok_or_else(|| "an expression precedes its operands".into())
    }

    fn maybe(&self, old: Option<Expr>) -> Result<Option<Expr>, String> {
        old.map(|old| self.of(old)).transpose()
    }

    fn all(&self, old: &[Expr]) -> Result<Vec<Expr>, String> {
        old.iter().map(|old| self.of(*old)).collect()
    }

    /// Copies the expression with its new operands.
    fn same(&self, expression: &Expression) -> Result<Expression, String> {
        use Expression as E;
        let of = |old: &Expr| self.of(*old);
        Ok(match expression {
            E::Literal(_)
            | E::Constant(_)
            | E::ZeroValue(_)
            | E::FunctionArgument(_)
            | E::GlobalVariable(_)
            | E::LocalVariable(_)
            | E::CallResult(_)
            | E::AtomicResult { .. }
            | E::WorkGroupUniformLoadResult { .. } => expression.clone(),
            E::Compose { ty, components } => E::Compose { ty: *ty, components: self.all(components)? },
            E::Access { base, index } => E::Access { base: of(base)?, index: of(index)? },
            E::AccessIndex { base, index } => E::AccessIndex { base: of(base)?, index: *index },
            E::Splat { size, value } => E::Splat { size: *size, value: of(value)? },
            E::Swizzle { size, vector, pattern } => E::Swizzle { size: *size, vector: of(vector)?, pattern: *pattern },
            E::Load { pointer } => E::Load { pointer: of(pointer)? },
            E::Unary { op, expr } => E::Unary { op: *op, expr: of(expr)? },
            E::Binary { op, left, right } => E::Binary { op: *op, left: of(left)?, right: of(right)? },
            E::Select { condition, accept, reject } => {
                E::Select { condition: of(condition)?, accept: of(accept)?, reject: of(reject)? }
            }
            E::Relational { fun, argument } => E::Relational { fun: *fun, argument: of(argument)? },
            E::Math { fun, arg, arg1, arg2, arg3 } => E::Math {
                fun: *fun,
                arg: of(arg)?,
                arg1: self.maybe(*arg1)?,
                arg2: self.maybe(*arg2)?,
                arg3: self.maybe(*arg3)?,
            },
            E::As { expr, kind, convert } => E::As { expr: of(expr)?, kind: *kind, convert: *convert },
            E::ArrayLength(array) => E::ArrayLength(of(array)?),
            other => {
                return Err(format!(
                    "kernels cannot use images, subgroups or ray queries: {}",
                    name(&format!("{other:?}"))
                ));
            }
        })
    }

    fn block(&self, old: &Block) -> Result<Block, String> {
        let mut new = Block::with_capacity(old.len());
        for (statement, span) in old.span_iter() {
            if let Some(statement) = self.statement(statement)? {
                new.push(statement, *span);
            }
        }
        Ok(new)
    }

    /// Copies a statement; `None` if it computes nothing.
    fn statement(&self, statement: &Statement) -> Result<Option<Statement>, String> {
        use Statement as S;
        let of = |old: &Expr| self.of(*old);
        Ok(Some(match statement {
            S::Emit(range) => {
                let Some((first, last)) = range.first_and_last() else { return Ok(None) };
                let first = self.made.get(first.index()).map(|(first, _)| *first).ok_or("an empty range")?;
                S::Emit(Range::new_from_bounds(first, self.of(last)?))
            }
            S::Break | S::Continue | S::ControlBarrier(_) | S::MemoryBarrier(_) => statement.clone(),
            S::Block(block) => S::Block(self.block(block)?),
            S::If { condition, accept, reject } => {
                S::If { condition: of(condition)?, accept: self.block(accept)?, reject: self.block(reject)? }
            }
            S::Switch { selector, cases } => {
                let case = |case: &SwitchCase| {
                    let body = self.block(&case.body)?;
                    Ok(SwitchCase { value: case.value, body, fall_through: case.fall_through })
                };
                let cases = cases.iter().map(case).collect::<Result<_, String>>()?;
                S::Switch { selector: of(selector)?, cases }
            }
            S::Loop { body, continuing, break_if } => S::Loop {
                body: self.block(body)?,
                continuing: self.block(continuing)?,
                break_if: self.maybe(*break_if)?,
            },
            S::Return { value } => S::Return { value: self.maybe(*value)? },
            S::Store { pointer, value } => S::Store { pointer: of(pointer)?, value: of(value)? },
            S::Atomic { pointer, fun, value, result } => {
                use naga::AtomicFunction as F;
                let fun = match fun {
                    F::Exchange { compare } => F::Exchange { compare: self.maybe(*compare)? },
                    other => *other,
                };
                S::Atomic { pointer: of(pointer)?, fun, value: of(value)?, result: self.maybe(*result)? }
            }
            S::WorkGroupUniformLoad { pointer, result } => {
                S::WorkGroupUniformLoad { pointer: of(pointer)?, result: of(result)? }
            }
            // A driver ignores stores outside an image (OpenGL 4.6 core, section 8.26; Vulkan, "texel output
            // validation").
            S::ImageStore { image, coordinate, array_index: None, value } => {
                S::ImageStore { image: of(image)?, coordinate: of(coordinate)?, array_index: None, value: of(value)? }
            }
            S::Call { function, arguments, result } => {
                S::Call { function: *function, arguments: self.all(arguments)?, result: self.maybe(*result)? }
            }
            other => {
                return Err(format!(
                    "kernels cannot use images, subgroups or ray queries: {}",
                    name(&format!("{other:?}"))
                ));
            }
        }))
    }
}

/// Returns the first word of naga's debug text.
fn name(debug: &str) -> &str {
    debug.split([' ', '(', '{']).next().unwrap_or(debug)
}
