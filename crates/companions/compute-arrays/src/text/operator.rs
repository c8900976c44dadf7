//! C code for one step of an expression. Arguments are names of variables, so they may occur several times.

use super::{C, type_name};
use crate::element::ElementType;
use crate::expr::{Binary, Unary};

/// Returns C's function for `kind`: CUDA has one name for each type.
fn function(dialect: C, kind: ElementType, name: &str) -> String {
    let suffix = if dialect == C::Cuda && kind == ElementType::F32 { "f" } else { "" };
    format!("{name}{suffix}")
}

/// Returns the unsigned type of the same width, in which arithmetic wraps.
const fn unsigned(kind: ElementType) -> ElementType {
    if kind.bits() == 64 { ElementType::U64 } else { ElementType::U32 }
}

/// Returns an operation that is rounded separately: never part of a fused multiply-add.
fn rounded(dialect: C, kind: ElementType, name: &str, sign: &str, a: &str, b: &str) -> String {
    match (dialect, kind) {
        (C::Cuda, ElementType::F32) => format!("__f{name}_rn({a}, {b})"),
        (C::Cuda, _) => format!("__d{name}_rn({a}, {b})"),
        // `FP_CONTRACT OFF` stands before it.
        (C::OpenCl, _) => format!("({a} {sign} {b})"),
    }
}

pub fn unary(dialect: C, op: Unary, kind: ElementType, a: &str) -> String {
    let call = |name: &str| format!("{}({a})", function(dialect, kind, name));
    let wrapping = |value: &str| {
        let (to, through) = (type_name(kind), type_name(unsigned(kind)));
        format!("(({to})(({through})0 - ({through}){value}))")
    };
    match op {
        Unary::Neg if kind.is_float() => format!("(-{a})"),
        Unary::Neg => wrapping(a),
        Unary::Not => format!("(!{a})"),
        Unary::Abs if kind.is_float() => call("fabs"),
        Unary::Abs if kind.is_signed() => format!("({a} < 0 ? {} : {a})", wrapping(a)),
        Unary::Abs => a.to_owned(),
        Unary::Sqrt => call("sqrt"),
        Unary::Exp => call("exp"),
        Unary::Ln => call("log"),
        Unary::Sin => call("sin"),
        Unary::Cos => call("cos"),
        Unary::Tan => call("tan"),
        Unary::Tanh => call("tanh"),
        Unary::Floor => call("floor"),
        Unary::Ceil => call("ceil"),
        Unary::Trunc => call("trunc"),
        Unary::RoundEven => call("rint"),
    }
}

/// Returns a binary operation; `kind` is the type of the operands.
pub fn binary(dialect: C, op: Binary, kind: ElementType, a: &str, b: &str) -> String {
    let call = |name: &str| format!("{}({a}, {b})", function(dialect, kind, name));
    let (to, through, bits) = (type_name(kind), type_name(unsigned(kind)), kind.bits());
    let wrapping = |sign: &str| format!("(({to})(({through}){a} {sign} ({through}){b}))");
    let divided = |sign: &str, by_minus_one: &str| match kind.is_signed() {
        true => format!("({b} == 0 ? ({to})0 : {b} == -1 ? {by_minus_one} : {a} {sign} {b})"),
        false => format!("({b} == 0 ? ({to})0 : {a} {sign} {b})"),
    };
    let sign = |sign: &str| format!("({a} {sign} {b})");
    match (op, kind.is_float()) {
        (Binary::Add, true) => rounded(dialect, kind, "add", "+", a, b),
        (Binary::Sub, true) => rounded(dialect, kind, "sub", "-", a, b),
        (Binary::Mul, true) => rounded(dialect, kind, "mul", "*", a, b),
        (Binary::Div, true) => sign("/"),
        (Binary::Rem, true) => call("fmod"),
        (Binary::Min, true) => call("fmin"),
        (Binary::Max, true) => call("fmax"),
        (Binary::Add, false) => wrapping("+"),
        (Binary::Sub, false) => wrapping("-"),
        (Binary::Mul, false) => wrapping("*"),
        (Binary::Div, false) => divided("/", &format!("(({to})(({through})0 - ({through}){a}))")),
        (Binary::Rem, false) => divided("%", &format!("({to})0")),
        (Binary::Min, false) => format!("({b} < {a} ? {b} : {a})"),
        (Binary::Max, false) => format!("({b} > {a} ? {b} : {a})"),
        (Binary::Pow, _) => call("pow"),
        (Binary::Atan2, _) => call("atan2"),
        (Binary::And, _) => sign("&"),
        (Binary::Or, _) => sign("|"),
        (Binary::Xor, _) => sign("^"),
        (Binary::Shl, _) => format!("(({to})(({through}){a} << (({through}){b} & {})))", bits - 1),
        (Binary::Shr, _) => format!("({a} >> (int)({b} & {}))", bits - 1),
        (Binary::Less, _) => sign("<"),
        (Binary::LessEqual, _) => sign("<="),
        (Binary::Equal, _) => sign("=="),
        (Binary::NotEqual, _) => sign("!="),
    }
}

pub fn mul_add(dialect: C, kind: ElementType, a: &str, b: &str, c: &str) -> String {
    format!("{}({a}, {b}, {c})", function(dialect, kind, "fma"))
}

/// Returns C code that converts `a`, with the results of Rust's `as`.
pub fn cast(from: ElementType, to: ElementType, a: &str) -> String {
    let name = type_name(to);
    if !from.is_float() || to.is_float() {
        return format!("(({name}){a})");
    }
    // The bounds are powers of two, which floats represent exactly; conversion of values outside is undefined in C.
    let (low, high, least, most) = match to {
        ElementType::I32 => ("-2147483648.0f", "2147483648.0f", "(-2147483647 - 1)", "2147483647"),
        ElementType::U32 => ("0.0f", "4294967296.0f", "0", "0xffffffffu"),
        ElementType::I64 => {
            ("-9223372036854775808.0f", "9223372036854775808.0f", "((pf_u64)1 << 63)", "(~(pf_u64)0 >> 1)")
        }
        _ => ("0.0f", "18446744073709551616.0f", "0", "~(pf_u64)0"),
    };

    format!("({a} != {a} ? ({name})0 : {a} <= {low} ? ({name}){least} : {a} >= {high} ? ({name}){most} : ({name}){a})")
}
