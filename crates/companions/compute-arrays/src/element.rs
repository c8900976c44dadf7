//! The types of array elements and of values in expressions.

use bytemuck::Pod;
use interop_core::Arg;
use std::fmt;

/// A type of value on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64; not every device supports it.
    F64,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
    /// Truth value, only inside expressions.
    Bool,
}

impl ElementType {
    /// Returns the Rust name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::Bool => "bool",
        }
    }

    /// Returns the replacement where only 32 bits are available.
    pub(crate) const fn in_32_bits(self) -> Option<&'static str> {
        match self {
            Self::F32 | Self::I32 | Self::U32 | Self::Bool => None,
            Self::F64 => Some("f32"),
            Self::I64 => Some("i32"),
            Self::U64 => Some("u32 (cast an index directly: Expr::index().cast::<u32>())"),
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::F32 | Self::I32 | Self::U32 | Self::Bool => 32,
            Self::F64 | Self::I64 | Self::U64 => 64,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A constant of an expression; the bits of narrow types lie in the low half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constant {
    pub(crate) kind: ElementType,
    pub(crate) bits: u64,
}

impl Constant {
    /// Returns the constant as a kernel argument; `true` is 1, `false` is 0.
    pub(crate) const fn arg(self) -> Arg<'static> {
        let low = self.bits as u32;
        match self.kind {
            ElementType::F32 => Arg::F32(f32::from_bits(low)),
            ElementType::F64 => Arg::F64(f64::from_bits(self.bits)),
            ElementType::I32 | ElementType::Bool => Arg::I32(low.cast_signed()),
            ElementType::U32 => Arg::U32(low),
            ElementType::I64 => Arg::I64(self.bits.cast_signed()),
            ElementType::U64 => Arg::U64(self.bits),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type of values in expressions: every [`Element`], and `bool`.
pub trait Value: sealed::Sealed + Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Kind of the type.
    const KIND: ElementType;

    /// Returns the value as a constant of an expression.
    fn constant(self) -> Constant;
}

/// A type that arrays hold.
pub trait Element: Value + Pod + PartialOrd + Default + crate::cpu::Arith {}

/// An element that is a floating-point number.
pub trait Float: Element + crate::cpu::FloatArith {}

/// An element that is an integer.
pub trait Integer: Element + crate::cpu::IntArith {}

macro_rules! element {
    ($($t:ident $kind:ident $family:ident |$v:ident| $bits:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Value for $t {
            const KIND: ElementType = ElementType::$kind;
            fn constant(self) -> Constant {
                let $v = self;
                Constant { kind: ElementType::$kind, bits: $bits }
            }
        }
        impl Element for $t {}
        impl $family for $t {}
    )*};
}

element! {
    f32 F32 Float |v| u64::from(v.to_bits());
    f64 F64 Float |v| v.to_bits();
    i32 I32 Integer |v| u64::from(v.cast_unsigned());
    u32 U32 Integer |v| u64::from(v);
    i64 I64 Integer |v| v.cast_unsigned();
    u64 U64 Integer |v| v;
}

impl sealed::Sealed for bool {}
impl Value for bool {
    const KIND: ElementType = ElementType::Bool;
    fn constant(self) -> Constant {
        Constant { kind: ElementType::Bool, bits: u64::from(self) }
    }
}
