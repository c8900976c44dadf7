//! WGSL code for one step of an expression, with the part of the text that it calls. Arguments are names of variables,
//! so they may occur several times.

use super::{Part, type_name};
use crate::element::ElementType;
use crate::expr::{Binary, Unary};

/// Returns a unary operation. WGSL guarantees too little accuracy for most functions of floats, so this crate has its
/// own.
pub fn unary(op: Unary, kind: ElementType, a: &str) -> (String, Part) {
    let call = |name: &str| format!("{name}({a})");
    match op {
        Unary::Neg if kind == ElementType::U32 => (format!("(0u - {a})"), Part::Common),
        Unary::Neg if kind == ElementType::I32 => (format!("(0 - {a})"), Part::Common),
        Unary::Neg => (format!("(-{a})"), Part::Common),
        Unary::Not => (format!("(!{a})"), Part::Common),
        // Mesa 22.3 treats its bits as signed.
        Unary::Abs if kind == ElementType::U32 => (a.to_owned(), Part::Common),
        Unary::Abs => (call("abs"), Part::Common),
        Unary::Sqrt => (call("sqrt"), Part::Common),
        Unary::Exp => (call("pf_exp"), Part::Exp),
        Unary::Ln => (call("pf_ln"), Part::Ln),
        Unary::Sin => (call("pf_sin"), Part::Angle),
        Unary::Cos => (call("pf_cos"), Part::Angle),
        Unary::Tan => (call("pf_tan"), Part::Angle),
        Unary::Tanh => (call("pf_tanh"), Part::Tanh),
        Unary::Floor => (call("floor"), Part::Common),
        Unary::Ceil => (call("ceil"), Part::Common),
        Unary::Trunc => (call("trunc"), Part::Common),
        Unary::RoundEven => (call("round"), Part::Common),
    }
}

/// Returns a binary operation; `kind` is the type of the operands.
pub fn binary(op: Binary, kind: ElementType, a: &str, b: &str) -> (String, Part) {
    let sign = |sign: &str| format!("({a} {sign} {b})");
    let call = |name: &str| format!("{name}({a}, {b})");
    let own = |name: &str| format!("pf_{name}_{}({a}, {b})", type_name(kind));
    let (float, bool) = (kind.is_float(), kind == ElementType::Bool);
    // Separated from other operations, so that no compiler fuses a product with a sum.
    let rounded = |sign: &str| (format!("pf_exact({a} {sign} {b})"), Part::Common);
    let shift = |sign: &str| format!("({a} {sign} (bitcast<u32>({b}) & 31u))");
    match op {
        Binary::Add if float => rounded("+"),
        Binary::Sub if float => rounded("-"),
        Binary::Mul if float => rounded("*"),
        Binary::Add => (sign("+"), Part::Common),
        Binary::Sub => (sign("-"), Part::Common),
        Binary::Mul => (sign("*"), Part::Common),
        Binary::Div => (own("div"), if float { Part::Floats } else { Part::Integers }),
        Binary::Rem => (own("rem"), if float { Part::Remainder } else { Part::Integers }),
        Binary::Min if float => (own("min"), Part::Floats),
        Binary::Max if float => (own("max"), Part::Floats),
        Binary::Min => (call("min"), Part::Common),
        Binary::Max => (call("max"), Part::Common),
        Binary::Pow => (call("pf_pow"), Part::Pow),
        Binary::Atan2 => (call("pf_atan2"), Part::Atan2),
        Binary::And => (sign("&"), Part::Common),
        Binary::Or => (sign("|"), Part::Common),
        Binary::Xor if bool => (sign("!="), Part::Common),
        Binary::Xor => (sign("^"), Part::Common),
        Binary::Shl => (shift("<<"), Part::Common),
        Binary::Shr => (shift(">>"), Part::Common),
        Binary::Less if float => (call("pf_less"), Part::Floats),
        Binary::LessEqual if float => (call("pf_less_equal"), Part::Floats),
        Binary::Equal if float => (call("pf_equal"), Part::Floats),
        Binary::NotEqual if float => (format!("(!pf_equal({a}, {b}))"), Part::Floats),
        Binary::Less => (sign("<"), Part::Common),
        Binary::LessEqual => (sign("<="), Part::Common),
        Binary::Equal => (sign("=="), Part::Common),
        Binary::NotEqual => (sign("!="), Part::Common),
    }
}

/// Returns WGSL code that converts `a`, with the results of Rust's `as`.
pub fn cast(from: ElementType, to: ElementType, a: &str) -> (String, Part) {
    match (from, to) {
        (ElementType::F32, ElementType::I32) => (format!("pf_i32_of({a})"), Part::Floats),
        (ElementType::F32, ElementType::U32) => (format!("pf_u32_of({a})"), Part::Floats),
        _ => (format!("{}({a})", type_name(to)), Part::Common),
    }
}
