//! Numbers of kinds, codecs and pixel properties in messages.

use super::error::WireError;
use interop_core::{AlphaMode, Encoding, PixelFormat, RowOrder};
use std::fmt;

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageKind {
    /// Pixels of one tile, from a worker.
    Tile,
    /// A whole picture, for viewers.
    Picture,
    /// A job for workers to compute.
    Job,
    /// Input from a viewer to the computing program: mouse and keys.
    Input,
    /// Precedes pixels, so that their receiver can measure the connection.
    Mark,
    /// A receiver's measurement of the connection.
    Report,
}

/// Codec of a payload's pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Codec {
    /// Uncompressed tight rows.
    #[default]
    None,
    /// One LZ4 block; lossless.
    Lz4,
    /// Baseline JPEG of `R8`, `RGBA8` and `BGRA8`; lossy, without alpha.
    Jpeg,
}

const KINDS: [(MessageKind, u8, &str); 6] = [
    (MessageKind::Tile, 1, "tile"),
    (MessageKind::Picture, 2, "picture"),
    (MessageKind::Job, 3, "job"),
    (MessageKind::Input, 4, "input"),
    (MessageKind::Mark, 5, "mark"),
    (MessageKind::Report, 6, "report"),
];

const CODECS: [(Codec, u8, &str); 3] = [(Codec::None, 0, "none"), (Codec::Lz4, 1, "lz4"), (Codec::Jpeg, 2, "jpeg")];

const ENCODINGS: [(Encoding, u8, &str); 4] = [
    (Encoding::Unmanaged, 0, "unmanaged"),
    (Encoding::Srgb, 1, "srgb"),
    (Encoding::Linear, 2, "linear"),
    (Encoding::Gamma22, 3, "gamma22"),
];

const ROW_ORDERS: [(RowOrder, u8, &str); 2] =
    [(RowOrder::TopDown, 0, "top-down"), (RowOrder::BottomUp, 1, "bottom-up")];

const ALPHAS: [(AlphaMode, u8, &str); 4] = [
    (AlphaMode::Stored, 0, "stored"),
    (AlphaMode::Opaque, 1, "opaque"),
    (AlphaMode::Premultiplied, 2, "premultiplied"),
    (AlphaMode::Straight, 3, "straight"),
];

fn value<T: Copy>(rows: &[(T, u8, &str)], field: &'static str, code: u8) -> Result<T, WireError> {
    let row = rows.iter().find(|row| row.1 == code);
    row.map(|row| row.0).ok_or(WireError::Unknown { field, value: code.into() })
}

/// Returns 255, which no value uses, for values that a later version of pixelferry added and the protocol does not know
/// yet.
fn code<T: Copy + PartialEq>(rows: &[(T, u8, &str)], value: T) -> u8 {
    rows.iter().find(|row| row.0 == value).map_or(u8::MAX, |row| row.1)
}

fn name<T: Copy + PartialEq>(rows: &[(T, u8, &'static str)], value: T) -> &'static str {
    rows.iter().find(|row| row.0 == value).map_or("unknown", |row| row.2)
}

macro_rules! coded {
    ($($type:ty, $rows:ident, $field:literal;)*) => {$(
        impl ByteCode for $type {
            fn from_code(number: u8) -> Result<Self, WireError> {
                value(&$rows, $field, number)
            }

            fn number(self) -> u8 {
                code(&$rows, self)
            }
        }
    )*};
}

/// A value with a code of one byte in a header.
pub(super) trait ByteCode: Sized {
    fn from_code(code: u8) -> Result<Self, WireError>;
    fn number(self) -> u8;
}

coded! {
    MessageKind, KINDS, "kind";
    Codec, CODECS, "codec";
    Encoding, ENCODINGS, "encoding";
    RowOrder, ROW_ORDERS, "row order";
    AlphaMode, ALPHAS, "alpha mode";
}

/// Uses the numbers by which shaders know formats, which never change.
impl ByteCode for PixelFormat {
    fn from_code(code: u8) -> Result<Self, WireError> {
        let format = Self::ALL.into_iter().find(|format| format.info().shader_id == u32::from(code));
        format.ok_or(WireError::Unknown { field: "pixel format", value: code.into() })
    }

    fn number(self) -> u8 {
        u8::try_from(self.info().shader_id).unwrap_or(u8::MAX)
    }
}

impl MessageKind {
    /// Name in messages.
    pub fn name(self) -> &'static str {
        name(&KINDS, self)
    }
}

impl Codec {
    /// All codecs.
    pub const ALL: [Self; 3] = [Self::None, Self::Lz4, Self::Jpeg];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        name(&CODECS, self)
    }

    /// Returns whether the codec is lossless.
    pub fn is_exact(self) -> bool {
        self != Self::Jpeg
    }

    /// Returns whether the codec supports this pixel format.
    pub fn takes(self, format: PixelFormat) -> bool {
        self.is_exact() || matches!(format, PixelFormat::R8 | PixelFormat::Rgba8 | PixelFormat::Bgra8)
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returns<T: ByteCode + Copy + PartialEq + fmt::Debug>(all: &[T]) {
        for value in all {
            assert_eq!(T::from_code(value.number()), Ok(*value));
        }
        assert!(T::from_code(u8::MAX).is_err());
    }

    #[test]
    fn every_code_comes_back_and_others_are_refused() {
        returns(&PixelFormat::ALL);
        returns(&KINDS.map(|row| row.0));
        returns(&Codec::ALL);
        returns(&ENCODINGS.map(|row| row.0));
        returns(&ROW_ORDERS.map(|row| row.0));
        returns(&ALPHAS.map(|row| row.0));
    }

    #[test]
    fn codecs_say_what_they_take() {
        assert!(Codec::Lz4.takes(PixelFormat::Rgba32F) && !Codec::Jpeg.takes(PixelFormat::R16));
    }
}
