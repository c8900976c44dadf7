//! Number types of arrays.

use crate::refusal::Refusal;

/// Storage of one number. The discriminants are those of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // named as in NumPy, ml_dtypes and torch: `TABLE`
pub enum Element {
    U8 = 0,
    U16 = 1,
    F16 = 2,
    F32 = 3,
    Bool = 4,
    I8 = 5,
    I16 = 6,
    I32 = 7,
    U32 = 8,
    I64 = 9,
    U64 = 10,
    F64 = 11,
    Bf16 = 12,
    F8E3M4 = 13,
    F8E4M3 = 14,
    F8E4M3B11Fnuz = 15,
    F8E4M3Fn = 16,
    F8E4M3Fnuz = 17,
    F8E5M2 = 18,
    F8E5M2Fnuz = 19,
    F8E8M0Fnu = 20,
}

/// A number type: its names in protocols, and how it is shown.
#[derive(Debug, Clone, Copy)]
pub struct ElementRow {
    /// Name in NumPy, ml_dtypes or torch.
    pub name: &'static str,
    /// `DLDataTypeCode`, and bits.
    pub code: (u8, usize),
    /// Storage of the number, or of one of the two parts of a complex one.
    pub element: Element,
    /// Whether a number consists of two elements, the real one first.
    pub complex: bool,
    /// The number that is white if no range is requested, with black at 0; `None` for minimum to maximum.
    pub white: Option<f64>,
}

const fn row(name: &'static str, code: (u8, usize), element: Element, white: Option<f64>) -> ElementRow {
    ElementRow { name, code, element, complex: false, white }
}

const fn complex(name: &'static str, bits: usize, element: Element) -> ElementRow {
    ElementRow { name, code: (5, bits), element, complex: true, white: None }
}

/// Every supported type in the order of its elements; complex types follow.
pub static TABLE: [ElementRow; 24] = [
    row("uint8", (1, 8), Element::U8, Some(255.0)),
    row("uint16", (1, 16), Element::U16, Some(65535.0)),
    row("float16", (2, 16), Element::F16, Some(1.0)),
    row("float32", (2, 32), Element::F32, Some(1.0)),
    row("bool", (6, 8), Element::Bool, Some(1.0)),
    row("int8", (0, 8), Element::I8, None),
    row("int16", (0, 16), Element::I16, None),
    row("int32", (0, 32), Element::I32, None),
    row("uint32", (1, 32), Element::U32, None),
    row("int64", (0, 64), Element::I64, None),
    row("uint64", (1, 64), Element::U64, None),
    row("float64", (2, 64), Element::F64, Some(1.0)),
    row("bfloat16", (4, 16), Element::Bf16, Some(1.0)),
    row("float8_e3m4", (7, 8), Element::F8E3M4, Some(1.0)),
    row("float8_e4m3", (8, 8), Element::F8E4M3, Some(1.0)),
    row("float8_e4m3b11fnuz", (9, 8), Element::F8E4M3B11Fnuz, Some(1.0)),
    row("float8_e4m3fn", (10, 8), Element::F8E4M3Fn, Some(1.0)),
    row("float8_e4m3fnuz", (11, 8), Element::F8E4M3Fnuz, Some(1.0)),
    row("float8_e5m2", (12, 8), Element::F8E5M2, Some(1.0)),
    row("float8_e5m2fnuz", (13, 8), Element::F8E5M2Fnuz, Some(1.0)),
    row("float8_e8m0fnu", (14, 8), Element::F8E8M0Fnu, Some(1.0)),
    complex("complex32", 32, Element::F16),
    complex("complex64", 64, Element::F32),
    complex("complex128", 128, Element::F64),
];

impl Element {
    /// Returns the table's row of the type.
    pub fn row(self) -> &'static ElementRow {
        // The table is in this order, which a test checks.
        &TABLE[self as usize]
    }

    /// Size in bytes.
    pub fn bytes(self) -> usize {
        self.row().code.1 / 8
    }

    /// Returns the element of a kernel's number.
    pub fn of_index(index: i32) -> Option<Self> {
        TABLE.iter().find(|row| row.element as i32 == index && !row.complex).map(|row| row.element)
    }
}

/// Number type of an array, as its protocol describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// `DLDataTypeCode`; [`Number::NONE`] for elements that are not numbers.
    pub code: u8,
    /// Bits of one number.
    pub bits: usize,
    /// Whether the byte order is not this machine's.
    pub foreign: bool,
}

impl Number {
    /// Code of elements that are not numbers, or several in one.
    pub const NONE: u8 = u8::MAX;

    /// Returns the number type for a letter and the number of bytes, from a type string of NumPy or a format of the
    /// buffer protocol.
    pub fn of_letter(letter: char, bytes: usize, foreign: bool) -> Self {
        let code = match letter {
            'i' => 0,
            'u' => 1,
            'f' => 2,
            'c' => 5,
            'b' => 6,
            _ => Self::NONE,
        };
        Self { code, bits: bytes.saturating_mul(8), foreign: foreign && bytes > 1 }
    }

    /// Returns the number type of this name, for libraries whose protocols cannot describe it.
    pub fn of_name(name: &str) -> Option<Self> {
        let row = TABLE.iter().find(|row| row.name == name)?;
        Some(Self { code: row.code.0, bits: row.code.1, foreign: false })
    }

    /// Returns whether only DLPack can describe the type.
    pub const fn is_only_named(self) -> bool {
        matches!(self.code, 4 | 7..)
    }

    /// Returns the table's row of the type.
    ///
    /// # Errors
    /// [`Refusal::Dtype`] for elements that are not numbers, or a foreign byte order.
    pub fn row(self) -> Result<&'static ElementRow, Refusal> {
        if self.foreign {
            let line = "x.astype(x.dtype.newbyteorder('='))";
            let what = "the array has a foreign byte order";
            return Err(Refusal::Dtype(format!("{what}; convert it, for example with {line}")));
        }
        TABLE.iter().find(|row| row.code == (self.code, self.bits)).ok_or_else(|| {
            let (what, line) = match self.code {
                // What NumPy loads from a file of an ml_dtypes array, or fails to load.
                Self::NONE if [8, 16].contains(&self.bits) => (
                    "untyped elements",
                    "x.view(ml_dtypes.bfloat16) (or the type it was saved with), or x['field'] if the array is structured",
                ),
                2 if self.bits == 8 => ("floats", "x.astype('float32'), and save that instead of a file that lacks the type"),
                0 | 1 => ("integers", "x.astype('int64')"),
                2 => ("floats", "x.astype('float64') or x.double()"),
                5 => ("complex numbers", "x.astype('complex128')"),
                Self::NONE => {
                    ("non-numeric elements", "x['field'] of a structured array, or x.astype('float64')")
                }
                _ => ("elements", "x.astype('float32') or x.float()"),
            };
            let bits = if self.bits == 0 { String::new() } else { format!(" of {} bits", self.bits) };
            Refusal::Dtype(format!("an array of {what}{bits} cannot be shown; show {line}"))
        })
    }
}

#[test]
fn rows_are_in_the_order_of_the_elements() {
    for (at, row) in TABLE.iter().enumerate() {
        assert!(row.complex || row.element as usize == at && Element::of_index(at as i32) == Some(row.element));
        let halves = if row.complex { 2 } else { 1 };
        assert_eq!(row.element.bytes() * halves * 8, row.code.1, "{}", row.name);
        let number = Number::of_name(row.name).unwrap();
        assert_eq!(number.row().unwrap().name, row.name);
    }
}
