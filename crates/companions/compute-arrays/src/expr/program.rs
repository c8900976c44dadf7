//! Lowering of a tree to a list of steps, in which each value is computed once.

use super::node::{Binary, Leaf, MAX_DEPTH, Node, Tree, Unary};
use crate::context::Arrays;
use crate::element::{Constant, ElementType};
use interop_core::{Error, Result};
use std::collections::HashMap;
use std::rc::Rc;

/// Number of a step, whose value later steps use.
pub type Reg = usize;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProgramStep {
    /// An element of a leaf.
    Load(usize),
    /// A constant.
    Constant(usize),
    Index,
    Old,
    Unary(Unary, Reg),
    Binary(Binary, Reg, Reg),
    Select(Reg, Reg, Reg),
    MulAdd(Reg, Reg, Reg),
    Cast(Reg),
}

/// Access to a leaf's elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Access {
    /// Contiguous, from an offset.
    Linear,
    /// By strides along this number of axes.
    Strided(usize),
}

/// Computation of an element, without its memory and numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Program {
    /// The last step is the result.
    pub steps: Vec<(ProgramStep, ElementType)>,
    pub leaves: Vec<(ElementType, Access)>,
}

impl Program {
    pub fn kind_of(&self, reg: Reg) -> ElementType {
        self.steps[reg].1
    }

    pub fn uses(&self, kind: ElementType) -> bool {
        self.steps.iter().any(|(_, k)| *k == kind)
    }

    pub fn uses_old(&self) -> bool {
        self.steps.iter().any(|(step, _)| *step == ProgramStep::Old)
    }

    /// Returns the leaf, if the program is a contiguous leaf and nothing else.
    pub fn is_linear_leaf(&self) -> bool {
        matches!((self.steps.as_slice(), self.leaves.as_slice()), ([(ProgramStep::Load(0), _)], [(_, Access::Linear)]))
    }
}

/// A program with its memory and numbers.
#[derive(Default)]
pub struct BoundProgram<'a> {
    pub program: Program,
    pub leaves: Vec<Leaf<'a>>,
    pub constants: Vec<Constant>,
}

/// Role of an expression, which decides what may occur in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Arrays, numbers and the index.
    Plain,
    /// Also old values.
    Update,
    /// The two sides of a monoid, and numbers.
    Monoid,
}

struct Lowering<'t, 'a> {
    bound: BoundProgram<'a>,
    role: Role,
    /// Trees that were visited; they are alive because the root is.
    seen: HashMap<*const Tree<'a>, Reg>,
    regs: HashMap<(ProgramStep, ElementType), Reg>,
    _root: &'t Tree<'a>,
}

impl<'a> BoundProgram<'a> {
    /// # Errors
    /// [`Error::InvalidInput`] where the tree is too deep or contains a node that is not allowed here, and where its
    /// arrays differ in shape; [`Error::Foreign`] where they belong to different [`Arrays`].
    pub fn new(root: &Rc<Tree<'a>>, role: Role, operation: &'static str) -> Result<Self> {
        let mut lowering =
            Lowering { bound: Self::default(), role, seen: HashMap::new(), regs: HashMap::new(), _root: root };
        let last = lowering.reg(root, operation)?;
        // All operands of a value precede it, and the root needs all values.
        debug_assert_eq!(last + 1, lowering.bound.program.steps.len());
        Ok(lowering.bound)
    }

    /// Returns the shape of the leaves; `None` without leaves.
    pub fn shape(&self) -> Option<&[usize]> {
        self.leaves.first().map(|leaf| leaf.layout.shape())
    }

    /// Returns the arrays to which the leaves belong.
    pub fn arrays(&self) -> Option<&Arrays> {
        self.leaves.first().map(|leaf| &leaf.arrays)
    }
}

impl<'a> Lowering<'_, 'a> {
    fn reg(&mut self, tree: &Rc<Tree<'a>>, operation: &'static str) -> Result<Reg> {
        if let Some(reg) = self.seen.get(&Rc::as_ptr(tree)) {
            return Ok(*reg);
        }
        let belongs = match &tree.node {
            Node::Old => self.role == Role::Update,
            Node::Side(_) => self.role == Role::Monoid,
            Node::Leaf(_) | Node::Index => self.role != Role::Monoid,
            _ => true,
        };
        if !belongs {
            return Err(Error::invalid(
                operation,
                "an expression holds a part of another operation's closure or, in a \
                monoid, an array or an index",
            ));
        }
        let step = match &tree.node {
            Node::Constant(constant) => {
                self.bound.constants.push(*constant);
                ProgramStep::Constant(self.bound.constants.len() - 1)
            }
            Node::Leaf(leaf) => ProgramStep::Load(self.leaf(leaf, tree.kind, operation)?),
            Node::Side(side) => {
                let leaves = &mut self.bound.program.leaves;
                leaves.resize(leaves.len().max(side + 1), (tree.kind, Access::Linear));
                ProgramStep::Load(*side)
            }
            Node::Index => ProgramStep::Index,
            Node::Old => ProgramStep::Old,
            Node::Unary(op, a) => ProgramStep::Unary(*op, self.reg(a, operation)?),
            Node::Binary(op, a, b) => ProgramStep::Binary(*op, self.reg(a, operation)?, self.reg(b, operation)?),
            Node::Select(a, b, c) => {
                ProgramStep::Select(self.reg(a, operation)?, self.reg(b, operation)?, self.reg(c, operation)?)
            }
            Node::MulAdd(a, b, c) => {
                ProgramStep::MulAdd(self.reg(a, operation)?, self.reg(b, operation)?, self.reg(c, operation)?)
            }
            Node::Cast(a) => ProgramStep::Cast(self.reg(a, operation)?),
            Node::TooDeep => {
                return Err(Error::invalid(
                    operation,
                    format!("the expression is nested more than {MAX_DEPTH} deep; evaluate a part of it first"),
                ));
            }
        };
        let steps = &mut self.bound.program.steps;
        let reg = *self.regs.entry((step.clone(), tree.kind)).or_insert_with(|| {
            steps.push((step, tree.kind));
            steps.len() - 1
        });
        self.seen.insert(Rc::as_ptr(tree), reg);
        Ok(reg)
    }

    fn leaf(&mut self, leaf: &Leaf<'a>, kind: ElementType, operation: &'static str) -> Result<usize> {
        if let Some(first) = self.bound.leaves.first() {
            first.arrays.check_same(&leaf.arrays, operation)?;
            if first.layout.shape() != leaf.layout.shape() {
                return Err(Error::invalid(
                    operation,
                    format!(
                        "arrays of shapes {:?} and {:?} in one expression; View::broadcast_to repeats",
                        first.layout.shape(),
                        leaf.layout.shape()
                    ),
                ));
            }
        }
        let same = |other: &Leaf<'a>| std::ptr::eq(other.store, leaf.store) && other.layout == leaf.layout;
        if let Some(at) = self.bound.leaves.iter().position(same) {
            return Ok(at);
        }
        let access = match leaf.layout.collapsed().as_slice() {
            [] | [(_, 1)] => Access::Linear,
            axes => Access::Strided(axes.len()),
        };
        self.bound.program.leaves.push((kind, access));
        self.bound.leaves.push(leaf.clone());
        Ok(self.bound.leaves.len() - 1)
    }
}
