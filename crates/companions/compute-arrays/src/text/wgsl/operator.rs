//! WGSL code for one step of an expression, with the part of the text that it calls. Arguments are names of variables,
//! so they may occur several times.

use super::{TextPart, type_name};
use crate::element::ElementType;
use crate::expr::{Binary, Unary};

/// Returns a unary operation. WGSL guarantees too little accuracy for most functions of floats, so this crate has its
/// own.
pub fn unary(op: Unary, kind: ElementType, a: &str) -> (String, TextPart) {
    let call = |name: &str| format!("{name}({a})");
    match op {
        Unary::Neg if kind == ElementType::U32 => (format!("(0u - {a})"), TextPart::Common),
        Unary::Neg if kind == ElementType::I32 => (format!("(0 - {a})"), TextPart::Common),
        Unary::Neg => (format!("(-{a})"), TextPart::Common),
        Unary::Not => (format!("(!{a})"), TextPart::Common),
        // Mesa 22.3 treats its bits as signed.
        Unary::Abs if kind == ElementType::U32 => (a.to_owned(), TextPart::Common),
        Unary::Abs => (call("abs"), TextPart::Common),
        Unary::Sqrt => (call("sqrt"), TextPart::Common),
        Unary::Exp => (call("pf_exp"), TextPart::Exp),
        Unary::Ln => (call("pf_ln"), TextPart::Ln),
        Unary::Sin => (call("pf_sin"), TextPart::Angle),
        Unary::Cos => (call("pf_cos"), TextPart::Angle),
        Unary::Tan => (call("pf_tan"), TextPart::Angle),
        Unary::Tanh => (call("pf_tanh"), TextPart::Tanh),
        Unary::Floor => (call("floor"), TextPart::Common),
        Unary::Ceil => (call("ceil"), TextPart::Common),
        Unary::Trunc => (call("trunc"), TextPart::Common),
        Unary::RoundEven => (call("round"), TextPart::Common),
    }
}

/// Returns a binary operation; `kind` is the type of the operands.
pub fn binary(op: Binary, kind: ElementType, a: &str, b: &str) -> (String, TextPart) {
    let sign = |sign: &str| format!("({a} {sign} {b})");
    let call = |name: &str| format!("{name}({a}, {b})");
    let own = |name: &str| format!("pf_{name}_{}({a}, {b})", type_name(kind));
    let (float, bool) = (kind.is_float(), kind == ElementType::Bool);
    // Separated from other operations, so that no compiler fuses a product with a sum.
    let rounded = |sign: &str| (format!("pf_exact({a} {sign} {b})"), TextPart::Common);
    let shift = |sign: &str| format!("({a} {sign} (bitcast<u32>({b}) & 31u))");
    match op {
        Binary::Add if float => rounded("+"),
        Binary::Sub if float => rounded("-"),
        Binary::Mul if float => rounded("*"),
        Binary::Add => (sign("+"), TextPart::Common),
        Binary::Sub => (sign("-"), TextPart::Common),
        Binary::Mul => (sign("*"), TextPart::Common),
        Binary::Div => (own("div"), if float { TextPart::Floats } else { TextPart::Integers }),
        Binary::Rem => (own("rem"), if float { TextPart::Remainder } else { TextPart::Integers }),
        Binary::Min if float => (own("min"), TextPart::Floats),
        Binary::Max if float => (own("max"), TextPart::Floats),
        Binary::Min => (call("min"), TextPart::Common),
        Binary::Max => (call("max"), TextPart::Common),
        Binary::Pow => (call("pf_pow"), TextPart::Pow),
        Binary::Atan2 => (call("pf_atan2"), TextPart::Atan2),
        Binary::And => (sign("&"), TextPart::Common),
        Binary::Or => (sign("|"), TextPart::Common),
        Binary::Xor if bool => (sign("!="), TextPart::Common),
        Binary::Xor => (sign("^"), TextPart::Common),
        Binary::Shl => (shift("<<"), TextPart::Common),
        Binary::Shr => (shift(">>"), TextPart::Common),
        Binary::Less if float => (call("pf_less"), TextPart::Floats),
        Binary::LessEqual if float => (call("pf_less_equal"), TextPart::Floats),
        Binary::Equal if float => (call("pf_equal"), TextPart::Floats),
        Binary::NotEqual if float => (format!("(!pf_equal({a}, {b}))"), TextPart::Floats),
        Binary::Less => (sign("<"), TextPart::Common),
        Binary::LessEqual => (sign("<="), TextPart::Common),
        Binary::Equal => (sign("=="), TextPart::Common),
        Binary::NotEqual => (sign("!="), TextPart::Common),
    }
}

/// Returns WGSL code that converts `a`, with the results of Rust's `as`.
pub fn cast(from: ElementType, to: ElementType, a: &str) -> (String, TextPart) {
    match (from, to) {
        (ElementType::F32, ElementType::I32) => (format!("pf_i32_of({a})"), TextPart::Floats),
        (ElementType::F32, ElementType::U32) => (format!("pf_u32_of({a})"), TextPart::Floats),
        _ => (format!("{}({a})", type_name(to)), TextPart::Common),
    }
}
