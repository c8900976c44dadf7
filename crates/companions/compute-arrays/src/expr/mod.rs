//! Expressions over arrays, evaluated in one pass.

mod checks;
mod node;
mod operators;
mod program;

pub(crate) use checks::no_shape;
pub(crate) use node::{Binary, Leaf, Node, Tree, Unary};
pub(crate) use program::{Access, BoundProgram, Program, ProgramStep, Role};

use crate::element::{Element, Float, Value};
use std::marker::PhantomData;
use std::rc::Rc;

/// One value for each element, computed from arrays and numbers. Nothing is computed until the expression is passed to
/// [`crate::Arrays::eval`], a reduction or a scan; then all of it is **one** kernel.
///
/// All arrays in it must have one shape ([`crate::View::broadcast_to`] repeats); numbers fit every shape. Cloning is
/// cheap, and a value that occurs twice is computed once.
///
/// # Results
/// These operations give the same bits on every backend, for all types: `+ - *`, `min`, `max`, comparisons, casts, bit
/// operations, integer `/` and `%`, `abs`, `floor`, `ceil`, `trunc`, `round_even`. Products and sums are never fused
/// implicitly; [`Expr::mul_add`] fuses them. (OpenCL, wgpu and OpenGL devices may flush subnormal numbers to zero.) The
/// following operations on `f32` and `f64` are accurate to these units in the last place:
///
/// | operation | ulp |
/// |---|---|
/// | `/` , `sqrt` | 3 (`OpenCL` C 7.4; exact on CUDA and the CPU) |
/// | `exp`, `ln` | 4 |
/// | `sin`, `cos` | 4, of arguments up to about 1e5 |
/// | `tan`, `tanh` | 6 |
/// | `atan2` | 6 |
/// | `powf` | 16 |
/// | `%` of floats, `mul_add` | exact |
///
/// Every input is defined. Integers wrap. Division and `%` by zero give 0. `<<` and `>>` take the count modulo the
/// width, and `>>` keeps the sign. `min` and `max` ignore a NaN where the other side is a number; for `-0.0` and `0.0`
/// they may return either.
pub struct Expr<'a, T: Value> {
    pub(crate) tree: Rc<Tree<'a>>,
    _type: PhantomData<T>,
}

impl<T: Value> Clone for Expr<'_, T> {
    fn clone(&self) -> Self {
        Self { tree: Rc::clone(&self.tree), _type: PhantomData }
    }
}

impl<'a, T: Value> Expr<'a, T> {
    pub(crate) fn node(node: Node<'a>) -> Self {
        Self { tree: Tree::new(T::KIND, node), _type: PhantomData }
    }

    fn unary(self, op: Unary) -> Self {
        Self::node(Node::Unary(op, self.tree))
    }

    pub(crate) fn binary(self, op: Binary, other: impl Into<Self>) -> Self {
        Self::node(Node::Binary(op, self.tree, other.into().tree))
    }

    fn compare(self, op: Binary, other: impl Into<Self>) -> Expr<'a, bool> {
        Expr::node(Node::Binary(op, self.tree, other.into().tree))
    }

    /// Returns an expression with the number `value` for every element.
    pub fn constant(value: T) -> Self {
        Self::node(Node::Constant(value.constant()))
    }

    /// Converts as Rust's `as` does: floats to integers saturate and truncate, and NaN becomes 0; integers wrap; truth
    /// values become 0 or 1.
    pub fn cast<U: Element>(self) -> Expr<'a, U> {
        Expr::node(Node::Cast(self.tree))
    }
}

impl<'a> Expr<'a, u64> {
    /// Returns the row-major index of the element, from 0. On wgpu and OpenGL, whose numbers have 32 bits, it must be
    /// cast directly: `Expr::index().cast::<u32>()`.
    pub fn index() -> Self {
        Self::node(Node::Index)
    }
}

impl<'a, T: Element> Expr<'a, T> {
    /// Returns the smaller value; see the type's documentation for NaN.
    #[must_use]
    pub fn min(self, other: impl Into<Self>) -> Self {
        self.binary(Binary::Min, other)
    }

    /// Returns the larger value; see the type's documentation for NaN.
    #[must_use]
    pub fn max(self, other: impl Into<Self>) -> Self {
        self.binary(Binary::Max, other)
    }

    /// Limits the value to `low` and `high`; NaN becomes `low`.
    #[must_use]
    pub fn clamp(self, low: impl Into<Self>, high: impl Into<Self>) -> Self {
        self.max(low).min(high)
    }

    /// Returns the absolute value; the smallest signed integer stays unchanged.
    #[must_use]
    pub fn abs(self) -> Self {
        self.unary(Unary::Abs)
    }

    /// True where this is less than `other`.
    pub fn lt(self, other: impl Into<Self>) -> Expr<'a, bool> {
        self.compare(Binary::Less, other)
    }

    /// True where this is less than or equal to `other`.
    pub fn le(self, other: impl Into<Self>) -> Expr<'a, bool> {
        self.compare(Binary::LessEqual, other)
    }

    /// True where this is greater than `other`.
    pub fn gt(self, other: impl Into<Self>) -> Expr<'a, bool> {
        other.into().compare(Binary::Less, self)
    }

    /// True where this is greater than or equal to `other`.
    pub fn ge(self, other: impl Into<Self>) -> Expr<'a, bool> {
        other.into().compare(Binary::LessEqual, self)
    }

    /// True where this equals `other`; NaN equals nothing.
    pub fn equals(self, other: impl Into<Self>) -> Expr<'a, bool> {
        self.compare(Binary::Equal, other)
    }

    /// True where this differs from `other`.
    pub fn differs(self, other: impl Into<Self>) -> Expr<'a, bool> {
        self.compare(Binary::NotEqual, other)
    }
}

impl<'a> Expr<'a, bool> {
    /// Returns `then` where this is true, otherwise `otherwise`. Both are computed.
    pub fn select<T: Element>(self, then: impl Into<Expr<'a, T>>, otherwise: impl Into<Expr<'a, T>>) -> Expr<'a, T> {
        Expr::node(Node::Select(self.tree, then.into().tree, otherwise.into().tree))
    }
}

macro_rules! float_functions {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl<'a, T: Float> Expr<'a, T> {
            $($(#[$doc])* #[must_use] pub fn $name(self) -> Self { self.unary(Unary::$op) })*

            /// Raises to a power; special cases are those of C's `pow`.
            #[must_use]
            pub fn powf(self, exponent: impl Into<Self>) -> Self {
                self.binary(Binary::Pow, exponent)
            }

            /// Returns the angle of the point (`x`, this) in radians.
            #[must_use]
            pub fn atan2(self, x: impl Into<Self>) -> Self {
                self.binary(Binary::Atan2, x)
            }

            /// Returns `this * factor + addend`, rounded once.
            #[must_use]
            pub fn mul_add(self, factor: impl Into<Self>, addend: impl Into<Self>) -> Self {
                Self::node(Node::MulAdd(self.tree, factor.into().tree, addend.into().tree))
            }
        }
    };
}

float_functions! {
    /// Square root.
    sqrt Sqrt;
    /// The exponential function, e to this power.
    exp Exp;
    /// Natural logarithm.
    ln Ln;
    /// Sine of an angle in radians.
    sin Sin;
    /// Cosine of an angle in radians.
    cos Cos;
    /// Tangent of an angle in radians.
    tan Tan;
    /// Hyperbolic tangent.
    tanh Tanh;
    /// Largest whole number that is not above this.
    floor Floor;
    /// Smallest whole number that is not below this.
    ceil Ceil;
    /// The whole part, without the fraction.
    trunc Trunc;
    /// Nearest whole number, ties to even.
    round_even RoundEven;
}
