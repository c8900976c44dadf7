//! Floats of 8 bits: tables of all values of each kind, computed at compile time.

use crate::element::Element;

/// Meaning of the highest codes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinity and NaN, as in IEEE 754.
    Ieee,
    /// NaN if all bits but the sign are set.
    Fn,
    /// NaN instead of negative zero.
    Fnuz,
    /// NaN if all bits are set; no sign and no zero.
    Fnu,
}

/// Table for the bits of the mantissa and the bias of the exponent.
const fn table(mantissa: u32, bias: i32, special: Special) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code as usize] = value(code, mantissa, bias, special);
        code += 1;
    }
    values
}

const fn value(code: u32, mantissa: u32, bias: i32, special: Special) -> f32 {
    let signed = !matches!(special, Special::Fnu);
    let rest = if signed { code & 0x7f } else { code };
    let (exponent, part) = (rest >> mantissa, rest & ((1 << mantissa) - 1));
    let highest = if signed { 0x7f_u32 >> mantissa } else { 0xff };
    let nan = match special {
        Special::Ieee => exponent == highest && part != 0,
        Special::Fn => rest == 0x7f,
        Special::Fnuz => code == 0x80,
        Special::Fnu => code == 0xff,
    };
    if nan {
        return f32::NAN;
    }
    let sign = if signed && code >= 0x80 { -1.0 } else { 1.0 };
    if matches!(special, Special::Ieee) && exponent == highest {
        return sign * f32::INFINITY;
    }
    let whole = (1 << mantissa) as f32;
    // Exact: products of powers of two and numbers of few bits.
    if exponent == 0 && signed {
        return sign * (part as f32 / whole) * power(1 - bias);
    }
    sign * (1.0 + part as f32 / whole) * power(exponent as i32 - bias)
}

/// 2 to the power of `n`, which must be -127 to 127.
const fn power(n: i32) -> f32 {
    if n < -126 { f32::from_bits(1 << 22) } else { f32::from_bits(((n + 127) as u32) << 23) }
}

static TABLES: [[f32; 256]; 8] = [
    table(4, 3, Special::Ieee),
    table(3, 7, Special::Ieee),
    table(3, 11, Special::Fnuz),
    table(3, 7, Special::Fn),
    table(3, 8, Special::Fnuz),
    table(2, 15, Special::Ieee),
    table(2, 16, Special::Fnuz),
    table(0, 127, Special::Fnu),
];

/// Returns the values of an element's 256 codes; for elements that are not floats of 8 bits, those of the last kind.
pub fn values(element: Element) -> &'static [f32; 256] {
    let at = (element as usize).wrapping_sub(Element::F8E3M4 as usize);
    &TABLES[at.min(TABLES.len() - 1)]
}

#[test]
fn codes_stand_for_what_their_names_say() {
    let of = |element, code: u8| values(element)[usize::from(code)];
    // The largest, 1, the smallest, and what is no number, from the definition of each.
    let known = [
        (Element::F8E3M4, 0x6f, 15.5, 0x30, 0x01, 2f32.powi(-6), 0x71),
        (Element::F8E4M3, 0x77, 240.0, 0x38, 0x01, 2f32.powi(-9), 0x79),
        (Element::F8E4M3B11Fnuz, 0x7f, 30.0, 0x58, 0x01, 2f32.powi(-13), 0x80),
        (Element::F8E4M3Fn, 0x7e, 448.0, 0x38, 0x01, 2f32.powi(-9), 0x7f),
        (Element::F8E4M3Fnuz, 0x7f, 240.0, 0x40, 0x01, 2f32.powi(-10), 0x80),
        (Element::F8E5M2, 0x7b, 57344.0, 0x3c, 0x01, 2f32.powi(-16), 0x7d),
        (Element::F8E5M2Fnuz, 0x7f, 57344.0, 0x40, 0x01, 2f32.powi(-17), 0x80),
        (Element::F8E8M0Fnu, 0xfe, 2f32.powi(127), 0x7f, 0x00, 2f32.powi(-127), 0xff),
    ];
    for (element, largest, most, one, smallest, least, nan) in known {
        assert_eq!([of(element, largest), of(element, one), of(element, smallest)], [most, 1.0, least], "{element:?}");
        assert!(of(element, nan).is_nan());
    }
    assert_eq!([of(Element::F8E5M2, 0x7c), of(Element::F8E5M2, 0xfc)], [f32::INFINITY, -f32::INFINITY]);
    assert_eq!([of(Element::F8E4M3Fn, 0xb8), of(Element::F8E4M3Fnuz, 0)], [-1.0, 0.0]);
}
