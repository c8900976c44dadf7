//! Zeros in workgroup memory, written by a loop in the kernel.
//!
//! WGSL guarantees them. naga's writers implement this with a constructor of as many zeros as there are words, which a
//! driver compiled for 18 s with 2048 words; the time for a loop does not depend on the number.

use naga::valid::ModuleInfo;
use naga::{
    AddressSpace, ArraySize, Barrier, BinaryOperator, Binding, Block, BuiltIn, EntryPoint, Expression, Function,
    FunctionArgument, Handle, Literal, LocalVariable, Module, Range, Scalar, ShaderStage, Span, Statement, Type,
    TypeInner, UniqueArena,
};
use std::collections::BTreeMap;

type Expr = Handle<Expression>;

/// Maximum size in bytes of a struct that is zeroed at once.
const PLAIN: u32 = 64;

/// Inserts the zeros, followed by a barrier, before the body of this entry point, if it uses such memory. Its number of
/// words must be within the limit; `info` is outdated afterwards.
pub fn zero(module: &mut Module, info: &ModuleInfo, entry: &str) {
    let is_it = |point: &EntryPoint| point.stage == ShaderStage::Compute && point.name == entry;
    let Some(at) = module.entry_points.iter().position(is_it) else { return };
    let used = info.get_entry_point(at);
    let shared = module.global_variables.iter();
    let shared = shared.filter(|(handle, v)| v.space == AddressSpace::WorkGroup && !used[*handle].is_empty());
    let shared: Vec<_> = shared.map(|(handle, variable)| (handle, variable.ty)).collect();
    if shared.is_empty() {
        return;
    }
    let u32 = Type { name: None, inner: TypeInner::Scalar(Scalar::U32) };
    let u32 = module.types.insert(u32, Span::default());
    let Module { types, entry_points, .. } = module;
    let point = &mut entry_points[at];
    let group = point.workgroup_size.iter().product();
    let mut zeroes = Zeroes { types, function: &mut point.function, u32, body: Block::new() };
    let index = zeroes.index();
    let mut places = BTreeMap::new();
    for (variable, ty) in shared {
        let pointer = zeroes.append(Expression::GlobalVariable(variable));
        zeroes.spread(pointer, ty, &mut places);
    }
    for (count, places) in places {
        zeroes.repeat(index, group, count, |zeroes, index| {
            places.iter().for_each(|place| zeroes.element(place, index));
        });
    }
    let mut body = zeroes.body;
    body.push(Statement::ControlBarrier(Barrier::WORK_GROUP), Span::default());
    for (statement, span) in std::mem::take(&mut point.function.body).span_into_iter() {
        body.push(statement, span);
    }
    point.function.body = body;
}

/// Nested arrays, or a single value: the lengths from the outermost on, and the innermost element.
struct ArrayPlace {
    pointer: Expr,
    lengths: Vec<u32>,
    element: Handle<Type>,
}

struct Zeroes<'a> {
    types: &'a mut UniqueArena<Type>,
    function: &'a mut Function,
    u32: Handle<Type>,
    /// Block to which statements are added.
    body: Block,
}

impl Zeroes<'_> {
    fn append(&mut self, expression: Expression) -> Expr {
        self.function.expressions.append(expression, Span::default())
    }

    fn number(&mut self, value: u32) -> Expr {
        self.append(Expression::Literal(Literal::U32(value)))
    }

    /// Adds an expression that is computed here.
    fn computed(&mut self, expression: Expression) -> Expr {
        let made = self.append(expression);
        self.push(Statement::Emit(Range::new_from_bounds(made, made)));
        made
    }

    fn push(&mut self, statement: Statement) {
        self.body.push(statement, Span::default());
    }

    fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.computed(Expression::Binary { op, left, right })
    }

    /// Returns the work item's index in its group: an existing argument of the kernel, because a builtin may occur only
    /// once, or a new one.
    fn index(&mut self) -> Expr {
        let wanted = Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex));
        let mut found = None;
        for (at, argument) in (0..).zip(&self.function.arguments) {
            if argument.binding == wanted {
                found = Some((at, None));
            } else if let TypeInner::Struct { members, .. } = &self.types[argument.ty].inner
                && let Some(member) = members.iter().position(|member| member.binding == wanted)
            {
                found = Some((at, Some(member as u32)));
            }
        }
        let (at, member) = found.unwrap_or_else(|| {
            let name = Some("pf_local_index".to_owned());
            self.function.arguments.push(FunctionArgument { name, ty: self.u32, binding: wanted });
            (self.function.arguments.len() as u32 - 1, None)
        });
        let argument = self.append(Expression::FunctionArgument(at));
        match member {
            Some(index) => self.computed(Expression::AccessIndex { base: argument, index }),
            None => argument,
        }
    }

    /// Sorts the members of a variable by their number of elements, so that one loop serves all with the same number.
    fn spread(&mut self, pointer: Expr, ty: Handle<Type>, places: &mut BTreeMap<u32, Vec<ArrayPlace>>) {
        let members = self.members(ty);
        if members.is_empty() {
            let (mut lengths, mut element) = (Vec::new(), ty);
            while let TypeInner::Array { base, size: ArraySize::Constant(length), .. } = self.types[element].inner {
                lengths.push(length.get());
                element = base;
            }
            let count = lengths.iter().fold(1_u32, |count, length| count.saturating_mul(*length));
            places.entry(count).or_default().push(ArrayPlace { pointer, lengths, element });
        }
        for (index, member) in (0..).zip(members) {
            let pointer = self.computed(Expression::AccessIndex { base: pointer, index });
            self.spread(pointer, member, places);
        }
    }

    /// Returns the members of a struct that has no zero value, or a large one.
    fn members(&self, ty: Handle<Type>) -> Vec<Handle<Type>> {
        match &self.types[ty].inner {
            TypeInner::Struct { members, .. } if !self.is_plain(ty) => members.iter().map(|member| member.ty).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns true where it is small, without arrays and atomics.
    fn is_plain(&self, ty: Handle<Type>) -> bool {
        match &self.types[ty].inner {
            TypeInner::Array { .. } | TypeInner::Atomic(_) => false,
            TypeInner::Struct { members, span } => {
                *span <= PLAIN && members.iter().all(|member| self.is_plain(member.ty))
            }
            _ => true,
        }
    }

    /// Writes the zero of one element of the innermost array.
    fn element(&mut self, place: &ArrayPlace, index: Expr) {
        let (mut pointer, mut rest) = (place.pointer, index);
        let mut inside: u32 = place.lengths.iter().product();
        for length in &place.lengths {
            inside /= length;
            let by = self.number(inside);
            let at = self.binary(BinaryOperator::Divide, rest, by);
            rest = self.binary(BinaryOperator::Modulo, rest, by);
            pointer = self.computed(Expression::Access { base: pointer, index: at });
        }
        self.value(pointer, place.element);
    }

    fn value(&mut self, pointer: Expr, ty: Handle<Type>) {
        let mut inner = BTreeMap::new();
        let zero = match self.types[ty].inner {
            TypeInner::Atomic(scalar) => {
                self.types.insert(Type { name: None, inner: TypeInner::Scalar(scalar) }, Span::default())
            }
            _ if self.is_plain(ty) => ty,
            _ => {
                self.spread(pointer, ty, &mut inner);
                let first = self.number(0);
                for (count, places) in inner {
                    self.repeat(first, 1, count, |zeroes, index| {
                        places.iter().for_each(|place| zeroes.element(place, index));
                    });
                }
                return;
            }
        };
        let value = self.append(Expression::ZeroValue(zero));
        self.push(Statement::Store { pointer, value });
    }

    /// Emits `for (var i = first; i < count; i += step) { body(i) }`.
    fn repeat(&mut self, first: Expr, step: u32, count: u32, body: impl FnOnce(&mut Self, Expr)) {
        let variable = LocalVariable { name: Some("pf_zeroed".to_owned()), ty: self.u32, init: None };
        let variable = self.function.local_variables.append(variable, Span::default());
        let pointer = self.append(Expression::LocalVariable(variable));
        let (count, step) = (self.number(count), self.number(step));
        self.push(Statement::Store { pointer, value: first });
        let outside = std::mem::take(&mut self.body);
        let index = self.computed(Expression::Load { pointer });
        let condition = self.binary(BinaryOperator::GreaterEqual, index, count);
        let accept = Block::from_vec(vec![Statement::Break]);
        self.push(Statement::If { condition, accept, reject: Block::new() });
        body(self, index);
        let value = self.binary(BinaryOperator::Add, index, step);
        self.push(Statement::Store { pointer, value });
        let body = std::mem::replace(&mut self.body, outside);
        self.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }
}
