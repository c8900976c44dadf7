//! The tree behind an expression.

use crate::context::Arrays;
use crate::element::{Constant, ElementType};
use crate::layout::Layout;
use crate::store::Store;
use std::rc::Rc;

/// Maximum depth of a tree. Lowering and dropping recurse, and a deeper tree could overflow the stack.
pub const MAX_DEPTH: u32 = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    Neg,
    Not,
    Abs,
    Sqrt,
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Tanh,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Pow,
    Atan2,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Less,
    LessEqual,
    Equal,
    NotEqual,
}

/// Elements of an array.
#[derive(Clone)]
pub struct Leaf<'a> {
    pub arrays: Arrays,
    pub store: &'a Store,
    pub layout: Rc<Layout>,
}

pub enum Node<'a> {
    Constant(Constant),
    Leaf(Leaf<'a>),
    /// Row-major index of the element.
    Index,
    /// The element's old value.
    Old,
    /// The left (0) or right (1) side of a monoid.
    Side(usize),
    Unary(Unary, Rc<Tree<'a>>),
    Binary(Binary, Rc<Tree<'a>>, Rc<Tree<'a>>),
    /// condition, then, else
    Select(Rc<Tree<'a>>, Rc<Tree<'a>>, Rc<Tree<'a>>),
    /// a * b + c, rounded once
    MulAdd(Rc<Tree<'a>>, Rc<Tree<'a>>, Rc<Tree<'a>>),
    Cast(Rc<Tree<'a>>),
    /// Replaces a tree that exceeds [`MAX_DEPTH`].
    TooDeep,
}

pub struct Tree<'a> {
    pub node: Node<'a>,
    pub kind: ElementType,
    depth: u32,
}

impl<'a> Tree<'a> {
    pub fn new(kind: ElementType, node: Node<'a>) -> Rc<Self> {
        let depth = match &node {
            Node::Unary(_, a) | Node::Cast(a) => a.depth,
            Node::Binary(_, a, b) => a.depth.max(b.depth),
            Node::Select(a, b, c) | Node::MulAdd(a, b, c) => a.depth.max(b.depth).max(c.depth),
            _ => 0,
        };
        let node = if depth >= MAX_DEPTH { Node::TooDeep } else { node };
        Rc::new(Self { node, kind, depth: depth + 1 })
    }
}
