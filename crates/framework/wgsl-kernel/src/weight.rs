//! The weight of a kernel for a driver's compiler, which copies each function to its calls.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, BinaryOperator, Block, Expression, Function, Handle, MathFunction, Module, ScalarKind, Statement,
    TypeInner,
};
use std::collections::HashMap;

/// Words of a loop, and of one component of a function such as `sin`: a driver needed the same time for this many
/// additions.
const LOOP: u64 = 1536;
const FUNCTION: u64 = 64;
/// Words of one component of an integer division.
const DIVISION: u64 = 64;
/// Words of each word that is read or written in memory of other work items, or through an index.
const ACCESS: u64 = 96;
/// Words of each word that is stored in a variable of one work item.
const STORED: u64 = 8;
/// Words of each word of an array that is copied whole.
const COPIED: u64 = 64;

/// Weight of a function after all functions that it calls were copied into it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Computed words, with the weights above.
    pub work: u64,
    /// Words of its variables.
    pub private: u64,
    /// Depth of nested loops.
    pub loops: u64,
}

/// Returns the words that a group shares.
pub fn shared(module: &Module) -> u64 {
    variables(module, AddressSpace::WorkGroup)
}

fn variables(module: &Module, space: AddressSpace) -> u64 {
    let all = module.global_variables.iter().filter(|(_, variable)| variable.space == space);
    let words = all.map(|(_, variable)| Words { module }.of(&module.types[variable.ty].inner));
    words.fold(0, u64::saturating_add)
}

/// Returns the weight of the entry point of this name; zeros if there is none.
pub fn weight(module: &Module, info: &ModuleInfo, entry: &str) -> Weight {
    let all = Words { module };
    let mut known = HashMap::new();
    // Functions follow those that they call.
    for (handle, function) in module.functions.iter() {
        known.insert(handle, all.function(function, &info[handle], &known));
    }
    let mut found = Weight::default();
    for (at, point) in module.entry_points.iter().enumerate().filter(|(_, point)| point.name == entry) {
        found = all.function(&point.function, info.get_entry_point(at), &known);
    }
    found.private = found.private.saturating_add(variables(module, AddressSpace::Private));
    found
}

struct Words<'a> {
    module: &'a Module,
}

impl Words<'_> {
    /// Returns the words of a value; 1 for a value without a size, such as a pointer.
    fn of(&self, ty: &TypeInner) -> u64 {
        match ty {
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => 1,
            // An array's size includes its padding, which is accurate enough.
            sized => sized.try_size(self.module.to_ctx()).map_or(u64::MAX, |bytes| u64::from(bytes).div_ceil(4)).max(1),
        }
    }

    fn function(&self, function: &Function, info: &FunctionInfo, known: &HashMap<Handle<Function>, Weight>) -> Weight {
        let mut weight = Weight::default();
        for (handle, expression) in function.expressions.iter() {
            let inner = info[handle].ty.inner_with(&self.module.types);
            let words = self.of(inner);
            let factor = match expression {
                // They refer to objects that are counted elsewhere.
                Expression::GlobalVariable(_) | Expression::LocalVariable(_) | Expression::FunctionArgument(_) => {
                    continue;
                }
                Expression::Math { fun, .. } if is_long(*fun) => FUNCTION,
                Expression::Load { .. } if is_indexed(inner) => COPIED,
                Expression::Load { pointer } if self.is_access(function, *pointer) => ACCESS,
                Expression::Binary { op: BinaryOperator::Divide | BinaryOperator::Modulo, .. }
                    if matches!(inner.scalar_kind(), Some(ScalarKind::Sint | ScalarKind::Uint)) =>
                {
                    DIVISION
                }
                _ => 1,
            };
            weight.work = weight.work.saturating_add(words.saturating_mul(factor));
        }
        for (_, variable) in function.local_variables.iter() {
            let inner = &self.module.types[variable.ty].inner;
            // Other values are in registers, which a compiler reuses.
            let words = if is_indexed(inner) { self.of(inner) } else { 0 };
            weight.private = weight.private.saturating_add(words);
        }
        let (work, private) = (weight.work, weight.private);
        let mut all = self.block(&function.body, &|pointer| self.stored(function, info, pointer), known);
        (all.work, all.private) = (all.work.saturating_add(work), all.private.saturating_add(private));
        all
    }

    /// Returns the words that are written there.
    fn stored(&self, function: &Function, info: &FunctionInfo, pointer: Handle<Expression>) -> u64 {
        let words = match info[pointer].ty.inner_with(&self.module.types) {
            TypeInner::Pointer { base, .. } => self.of(&self.module.types[*base].inner),
            TypeInner::ValuePointer { size, .. } => size.map_or(1, |size| size as u64),
            _ => 1,
        };
        words.saturating_mul(if self.is_access(function, pointer) { ACCESS } else { STORED })
    }

    /// Returns true where a pointer refers to memory, or to an object selected by an index.
    fn is_access(&self, function: &Function, mut pointer: Handle<Expression>) -> bool {
        let mut chosen = false;
        let space = loop {
            match function.expressions[pointer] {
                Expression::Access { base, index } => {
                    chosen |= !matches!(function.expressions[index], Expression::Literal(_));
                    pointer = base;
                }
                Expression::AccessIndex { base, .. } => pointer = base,
                Expression::GlobalVariable(variable) => break Some(self.module.global_variables[variable].space),
                Expression::FunctionArgument(at) => {
                    let argument = function.arguments.get(at as usize);
                    break argument.and_then(|argument| self.module.types[argument.ty].inner.pointer_space());
                }
                _ => break None,
            }
        };
        match space {
            Some(AddressSpace::WorkGroup | AddressSpace::Storage { .. }) => true,
            Some(AddressSpace::Uniform) => false,
            _ => chosen,
        }
    }

    fn block(
        &self,
        block: &Block,
        stored: &dyn Fn(Handle<Expression>) -> u64,
        known: &HashMap<Handle<Function>, Weight>,
    ) -> Weight {
        let mut sum = Weight::default();
        for statement in block.iter() {
            sum.work = sum.work.saturating_add(1);
            match statement {
                Statement::Block(inner) => sum.add(self.block(inner, stored, known)),
                Statement::If { accept, reject, .. } => {
                    sum.add(self.block(accept, stored, known));
                    sum.add(self.block(reject, stored, known));
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| sum.add(self.block(&case.body, stored, known)))
                }
                Statement::Loop { body, continuing, .. } => {
                    let mut inner = self.block(body, stored, known);
                    inner.add(self.block(continuing, stored, known));
                    inner.loops += 1;
                    inner.work = inner.work.saturating_add(LOOP);
                    sum.add(inner);
                }
                Statement::Call { function, .. } => sum.add(known.get(function).copied().unwrap_or_default()),
                Statement::Store { pointer, .. } | Statement::Atomic { pointer, .. } => {
                    sum.work = sum.work.saturating_add(stored(*pointer));
                }
                Statement::ImageStore { .. } => sum.work = sum.work.saturating_add(4 * ACCESS),
                _ => {}
            }
        }
        sum
    }
}

impl Weight {
    fn add(&mut self, other: Self) {
        self.work = self.work.saturating_add(other.work);
        self.private = self.private.saturating_add(other.private);
        self.loops = self.loops.max(other.loops);
    }
}

/// Returns true where it lies in memory, or in registers that an index selects.
fn is_indexed(ty: &TypeInner) -> bool {
    matches!(ty, TypeInner::Array { .. } | TypeInner::Struct { .. })
}

/// Returns true where a driver generates dozens of instructions for it.
fn is_long(function: MathFunction) -> bool {
    use MathFunction as F;
    matches!(
        function,
        F::Cos
            | F::Cosh
            | F::Sin
            | F::Sinh
            | F::Tan
            | F::Tanh
            | F::Acos
            | F::Asin
            | F::Atan
            | F::Atan2
            | F::Asinh
            | F::Acosh
            | F::Atanh
            | F::Exp
            | F::Exp2
            | F::Log
            | F::Log2
            | F::Pow
            | F::Modf
            | F::Frexp
            | F::Ldexp
            | F::Inverse
            | F::Determinant
    )
}
