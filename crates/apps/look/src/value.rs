//! Numbers as arrays store them.

use crate::element::Element;
use crate::float8;
use half::{bf16, f16};
use std::fmt;

/// One number as the array stores it: integers are exact, and floats are printed as short as their type allows. With a
/// precision, at most that many digits are printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer, or a boolean as 0 or 1.
    Whole(i128),
    /// A float of up to 32 bits.
    Single(f32),
    /// A float of 64 bits.
    Double(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = f.precision().map(|digits| move |value: f64| shortened(value, digits));
        match (*self, short) {
            (Self::Whole(value), Some(short)) if value.to_string().len() > 7 => f.write_str(&short(value as f64)),
            (Self::Whole(value), _) => write!(f, "{value}"),
            (Self::Single(value), None) => write!(f, "{value:?}"),
            (Self::Double(value), None) => write!(f, "{value:?}"),
            (Self::Complex(real, imaginary), None) => write!(f, "{real:?}{imaginary:+?}i"),
            (Self::Single(value), Some(short)) => f.write_str(&short(value.into())),
            (Self::Double(value), Some(short)) => f.write_str(&short(value)),
            (Self::Complex(real, imaginary), Some(short)) => {
                let sign = if imaginary.is_sign_negative() { "" } else { "+" };
                write!(f, "{}{sign}{}i", short(real), short(imaginary))
            }
        }
    }
}

/// Formats with this many digits, without trailing zeros.
fn shortened(value: f64, digits: usize) -> String {
    let size = value.abs();
    if value != 0.0 && value.is_finite() && !(1e-3..1e5).contains(&size) {
        return format!("{value:.*e}", digits.saturating_sub(2));
    }
    let before = if size >= 1.0 && size.is_finite() { size.log10() as usize + 1 } else { 1 };
    let text = format!("{value:.*}", digits.saturating_sub(before));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl From<Value> for f64 {
    fn from(value: Value) -> Self {
        match value {
            Value::Whole(value) => value as Self,
            Value::Single(value) => Self::from(value),
            Value::Double(value) | Value::Complex(value, _) => value,
        }
    }
}

/// The shortest decimal number that is equal in a narrower type.
fn shortest(value: f32, is_same: impl Fn(f32) -> bool) -> f32 {
    let of = |digits| format!("{value:.digits$e}").parse().ok();
    (0..6).filter_map(of).find(|other| is_same(*other)).unwrap_or(value)
}

/// Reads a number as it is stored; `None` if bytes are missing.
pub fn number(element: Element, bytes: &[u8]) -> Option<Value> {
    fn of<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.first_chunk().copied()
    }
    Some(match element {
        Element::U8 => Value::Whole(of(bytes).map(u8::from_ne_bytes)?.into()),
        Element::Bool => Value::Whole((of(bytes) != Some([0])).into()),
        Element::I8 => Value::Whole(of(bytes).map(i8::from_ne_bytes)?.into()),
        Element::U16 => Value::Whole(of(bytes).map(u16::from_ne_bytes)?.into()),
        Element::I16 => Value::Whole(of(bytes).map(i16::from_ne_bytes)?.into()),
        Element::U32 => Value::Whole(of(bytes).map(u32::from_ne_bytes)?.into()),
        Element::I32 => Value::Whole(of(bytes).map(i32::from_ne_bytes)?.into()),
        Element::U64 => Value::Whole(of(bytes).map(u64::from_ne_bytes)?.into()),
        Element::I64 => Value::Whole(of(bytes).map(i64::from_ne_bytes)?.into()),
        Element::F16 => {
            let value = of(bytes).map(f16::from_ne_bytes)?;
            Value::Single(shortest(value.into(), |other| f16::from_f32(other) == value))
        }
        Element::Bf16 => {
            let value = of(bytes).map(bf16::from_ne_bytes)?;
            Value::Single(shortest(value.into(), |other| bf16::from_f32(other) == value))
        }
        Element::F32 => Value::Single(of(bytes).map(f32::from_ne_bytes)?),
        Element::F64 => Value::Double(of(bytes).map(f64::from_ne_bytes)?),
        float8 => Value::Single(float8::values(float8)[usize::from(*bytes.first()?)]),
    })
}

#[test]
fn short_numbers_fit_into_a_pixel() {
    for (value, text) in [
        (Value::Single(0.1), "0.1"),
        (Value::Single(0.123_456), "0.123"),
        (Value::Double(-12.345_678), "-12.35"),
        (Value::Double(1234.567), "1235"),
        (Value::Double(1e-9), "1.00e-9"),
        (Value::Double(f64::NAN), "NaN"),
        (Value::Double(f64::NEG_INFINITY), "-inf"),
        (Value::Single(0.0), "0"),
        (Value::Whole(-1_234_567_890), "-1.23e9"),
        (Value::Whole(65535), "65535"),
    ] {
        assert_eq!(format!("{value:.4}"), text);
    }
    assert_eq!(Value::Single(0.1).to_string(), "0.1");
    for (half, text) in [(0.1, "0.1"), (65504.0, "65500.0"), (-2.0, "-2.0"), (f32::NAN, "NaN"), (f32::INFINITY, "inf")]
    {
        let value = number(Element::F16, &f16::from_f32(half).to_ne_bytes()).unwrap();
        assert_eq!(value.to_string(), text);
    }
    assert_eq!(number(Element::Bf16, &bf16::from_f32(0.3).to_ne_bytes()).unwrap().to_string(), "0.3");
}
