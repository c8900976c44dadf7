//! Operators on expressions, arrays, views and numbers.

use super::{Binary, Expr, Node, Unary};
use crate::array::Array;
use crate::element::{Element, Float, Integer};
use crate::view::View;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

impl<T: Element> From<T> for Expr<'_, T> {
    fn from(value: T) -> Self {
        Self::constant(value)
    }
}

impl From<bool> for Expr<'_, bool> {
    fn from(value: bool) -> Self {
        Self::constant(value)
    }
}

impl<'a, T: Element> From<&'a Array<T>> for Expr<'a, T> {
    fn from(array: &'a Array<T>) -> Self {
        array.view().expr()
    }
}

impl<'a, T: Element> From<View<'a, T>> for Expr<'a, T> {
    fn from(view: View<'a, T>) -> Self {
        view.expr()
    }
}

impl<'a, T: Element> From<&View<'a, T>> for Expr<'a, T> {
    fn from(view: &View<'a, T>) -> Self {
        view.clone().expr()
    }
}

/// One operator for all combinations of operand types. Separate impls, instead of one over `Into`, let `expr * 2.0`
/// infer the type of its number.
macro_rules! operator {
    ($($trait:ident $method:ident $op:ident $bound:ident;)*) => {$(
        operator!(@left $trait $method $op $bound, Expr<'a, T>);
        operator!(@left $trait $method $op $bound, &'a Array<T>);
        operator!(@left $trait $method $op $bound, View<'a, T>);
    )*};
    (@left $trait:ident $method:ident $op:ident $bound:ident, $left:ty) => {
        operator!(@pair $trait $method $op $bound, $left, T);
        operator!(@pair $trait $method $op $bound, $left, Expr<'a, T>);
        operator!(@pair $trait $method $op $bound, $left, &'a Array<T>);
        operator!(@pair $trait $method $op $bound, $left, View<'a, T>);
    };
    (@pair $trait:ident $method:ident $op:ident $bound:ident, $left:ty, $right:ty) => {
        impl<'a, T: $bound> $trait<$right> for $left {
            type Output = Expr<'a, T>;
            fn $method(self, right: $right) -> Expr<'a, T> {
                Expr::<'a, T>::from(self).binary(Binary::$op, right)
            }
        }
    };
}

operator! {
    Add add Add Element;
    Sub sub Sub Element;
    Mul mul Mul Element;
    Div div Div Element;
    Rem rem Rem Element;
    BitAnd bitand And Integer;
    BitOr bitor Or Integer;
    BitXor bitxor Xor Integer;
    Shl shl Shl Integer;
    Shr shr Shr Integer;
}

/// Numbers on the left side.
macro_rules! number_left {
    ($($t:ident)*) => {$(
        number_left!(@op $t Add add Add);
        number_left!(@op $t Sub sub Sub);
        number_left!(@op $t Mul mul Mul);
        number_left!(@op $t Div div Div);
        number_left!(@op $t Rem rem Rem);
    )*};
    (@op $t:ident $trait:ident $method:ident $op:ident) => {
        number_left!(@pair $t $trait $method $op, Expr<'a, $t>);
        number_left!(@pair $t $trait $method $op, &'a Array<$t>);
        number_left!(@pair $t $trait $method $op, View<'a, $t>);
    };
    (@pair $t:ident $trait:ident $method:ident $op:ident, $right:ty) => {
        impl<'a> $trait<$right> for $t {
            type Output = Expr<'a, $t>;
            fn $method(self, right: $right) -> Expr<'a, $t> {
                Expr::<'a, $t>::from(self).binary(Binary::$op, right)
            }
        }
    };
}

number_left!(f32 f64 i32 u32 i64 u64);

macro_rules! sign {
    ($($left:ty),*) => {$(
        impl<'a, T: Element> Neg for $left {
            type Output = Expr<'a, T>;
            fn neg(self) -> Expr<'a, T> {
                Expr::node(Node::Unary(Unary::Neg, Expr::<'a, T>::from(self).tree))
            }
        }
    )*};
}

sign!(Expr<'a, T>, &'a Array<T>, View<'a, T>);

macro_rules! truth {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'a> $trait for Expr<'a, bool> {
            type Output = Self;
            fn $method(self, right: Self) -> Self {
                self.binary(Binary::$op, right)
            }
        }
    )*};
}

truth! {
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
}

impl Not for Expr<'_, bool> {
    type Output = Self;
    fn not(self) -> Self {
        Self::node(Node::Unary(Unary::Not, self.tree))
    }
}

impl<'a, T: Element> Array<T> {
    /// Returns the array as an expression.
    pub fn expr(&'a self) -> Expr<'a, T> {
        Expr::from(self)
    }
}

/// Methods of floats on arrays, so that `a.sin()` needs no `expr()`.
macro_rules! array_functions {
    ($($name:ident)*) => {
        impl<'a, T: Float> Array<T> {
            $(#[doc = concat!("[`Expr::", stringify!($name), "`].")]
            pub fn $name(&'a self) -> Expr<'a, T> { Expr::from(self).$name() })*
        }
    };
}

array_functions!(sqrt exp ln sin cos tan tanh floor ceil trunc round_even);
