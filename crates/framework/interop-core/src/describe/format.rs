//! Pixel formats that every path can carry: each is one row of [`FORMATS`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use super::error::{Error, Result};

/// Format of one pixel. The name gives the order of the channels; numbers have native byte order, without padding.
///
/// The properties of a format are its row of [`FORMATS`]; its names in an API are a row of that API's [`PerFormat`].
///
/// ```
/// use interop_core::PixelFormat;
///
/// assert_eq!(PixelFormat::Rgba16F.bytes_per_pixel(), 8);
/// assert_eq!("rgba8".parse::<PixelFormat>()?, PixelFormat::Rgba8);
/// assert_eq!(PixelFormat::Rgba8.to_string(), "RGBA8");
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PixelFormat {
    /// One 8-bit channel, 0..=255 shown as 0..=1.
    R8,
    /// Two 8-bit channels, 0..=255 shown as 0..=1.
    Rg8,
    /// One 16-bit channel, 0..=65535 shown as 0..=1.
    R16,
    /// One IEEE 754 binary16 channel.
    R16F,
    /// Four 8-bit channels, linear (no sRGB decoding).
    Rgba8,
    /// Four 8-bit channels, blue first, as cameras and window systems deliver them.
    Bgra8,
    /// 10 bits each of red, green and blue and 2 bits of alpha, normalised, in one 32-bit word with red in the lowest
    /// bits.
    Rgb10A2,
    /// Two IEEE 754 binary16 channels.
    Rg16F,
    /// One IEEE 754 binary32 channel.
    R32F,
    /// Four IEEE 754 binary16 channels.
    Rgba16F,
    /// Two IEEE 754 binary32 channels.
    Rg32F,
    /// Four IEEE 754 binary32 channels.
    Rgba32F,
}

/// Storage type of a format's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ChannelKind {
    /// Unsigned 8-bit, normalised when sampled.
    Unorm8,
    /// Unsigned 16-bit, normalised when sampled.
    Unorm16,
    /// All four channels in one 32-bit word: 10, 10, 10 and 2 bits from the lowest on, normalised when sampled.
    Unorm10A2,
    /// IEEE 754 binary16.
    Float16,
    /// IEEE 754 binary32.
    Float32,
}

impl ChannelKind {
    /// Bytes of one channel, or of the whole word where channels are packed. Pixel addresses are multiples of it.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Unorm8 => 1,
            Self::Unorm16 | Self::Float16 => 2,
            Self::Unorm10A2 | Self::Float32 => 4,
        }
    }

    /// True where a channel can store values outside 0..=1.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32)
    }
}

/// Properties of a pixel format.
#[derive(Debug, Clone, Copy)]
pub struct FormatInfo {
    /// The format that this row describes.
    pub format: PixelFormat,
    /// Name of the format as the specifications spell it, in capitals.
    pub name: &'static str,
    /// Storage type of its channels.
    pub kind: ChannelKind,
    /// Colour of each stored channel: 0 red, 1 green, 2 blue, 3 alpha.
    pub order: &'static [usize],
    /// Type of a pixel in OpenCL C and CUDA C++. Half floats appear as integers of the same bits.
    pub c_type: &'static str,
    /// Number in shaders and in messages between processes; the C API uses this number plus one. It never changes when
    /// formats are added.
    pub shader_id: u32,
}

const fn row(
    format: PixelFormat,
    name: &'static str,
    kind: ChannelKind,
    order: &'static [usize],
    c_type: &'static str,
    shader_id: u32,
) -> FormatInfo {
    FormatInfo { format, name, kind, order, c_type, shader_id }
}

const RGBA: &[usize] = &[0, 1, 2, 3];
const RG: &[usize] = &[0, 1];
const R: &[usize] = &[0];

/// Number of formats.
pub const COUNT: usize = 12;

/// Every format, smallest pixel first.
pub const FORMATS: [FormatInfo; COUNT] = {
    use ChannelKind::*;
    [
        row(PixelFormat::R8, "R8", Unorm8, R, "uchar", 0),
        row(PixelFormat::Rg8, "RG8", Unorm8, RG, "uchar2", 1),
        row(PixelFormat::R16, "R16", Unorm16, R, "ushort", 6),
        row(PixelFormat::R16F, "R16F", Float16, R, "ushort", 7),
        row(PixelFormat::Rgba8, "RGBA8", Unorm8, RGBA, "uchar4", 2),
        row(PixelFormat::Bgra8, "BGRA8", Unorm8, &[2, 1, 0, 3], "uchar4", 8),
        row(PixelFormat::Rgb10A2, "RGB10A2", Unorm10A2, RGBA, "uint", 9),
        row(PixelFormat::Rg16F, "RG16F", Float16, RG, "ushort2", 10),
        row(PixelFormat::R32F, "R32F", Float32, R, "float", 3),
        row(PixelFormat::Rgba16F, "RGBA16F", Float16, RGBA, "ushort4", 4),
        row(PixelFormat::Rg32F, "RG32F", Float32, RG, "float2", 11),
        row(PixelFormat::Rgba32F, "RGBA32F", Float32, RGBA, "float4", 5),
    ]
};

/// One value for each format, for example the format's name in an API. As a constant, it compiles only if every format
/// has a row, in the order of [`FORMATS`].
///
/// ```
/// use interop_core::describe::format::{COUNT, PerFormat, PixelFormat};
/// const BITS: PerFormat<usize> = {
///     let mut rows = [(PixelFormat::R8, 0); COUNT];
///     let mut i = 0;
///     while i < COUNT {
///         rows[i] = (PixelFormat::ALL[i], 8 * PixelFormat::ALL[i].bytes_per_pixel());
///         i += 1;
///     }
///     PerFormat::new(rows)
/// };
/// assert_eq!(BITS.get(PixelFormat::Rgba16F), 64);
/// ```
#[derive(Debug)]
pub struct PerFormat<T>([(PixelFormat, T); COUNT]);

impl<T: Copy> PerFormat<T> {
    /// Takes the rows. Use it in constants, where a wrong order is a compile error.
    ///
    /// # Panics
    /// Where the rows are in another order than [`FORMATS`]; in a constant, that is a compile error.
    pub const fn new(rows: [(PixelFormat, T); COUNT]) -> Self {
        let mut at = 0;
        while at < COUNT {
            assert!(rows[at].0 as usize == at, "rows of formats must be in the order of FORMATS");
            at += 1;
        }
        Self(rows)
    }

    /// Returns the value of a format.
    pub const fn get(&self, format: PixelFormat) -> T {
        self.0[format as usize].1
    }
}

const _: () = {
    let mut at = 0;
    while at < COUNT {
        assert!(FORMATS[at].format as usize == at, "FORMATS must have the order of PixelFormat");
        assert!(FORMATS[at].format.bytes_per_pixel().is_power_of_two());
        assert!(at == 0 || FORMATS[at - 1].format.bytes_per_pixel() <= FORMATS[at].format.bytes_per_pixel());
        let mut other = 0;
        while other < at {
            assert!(FORMATS[other].shader_id != FORMATS[at].shader_id, "two formats have one number in shaders");
            other += 1;
        }
        at += 1;
    }
};

impl PixelFormat {
    /// Every format, smallest pixel first.
    pub const ALL: [Self; COUNT] = {
        let mut all = [Self::R8; COUNT];
        let mut at = 0;
        while at < COUNT {
            all[at] = FORMATS[at].format;
            at += 1;
        }
        all
    };

    /// Returns the format's row of [`FORMATS`].
    pub const fn info(self) -> &'static FormatInfo {
        const ROWS: &[FormatInfo; COUNT] = &FORMATS;
        &ROWS[self as usize]
    }

    /// Number of channels, 1 to 4.
    pub const fn channels(self) -> usize {
        self.info().order.len()
    }

    /// Storage type of the channels.
    pub const fn channel_kind(self) -> ChannelKind {
        self.info().kind
    }

    /// Bytes of one pixel; always a power of two.
    pub const fn bytes_per_pixel(self) -> usize {
        match self.channel_kind() {
            ChannelKind::Unorm10A2 => 4,
            kind => self.channels() * kind.bytes(),
        }
    }

    /// Name as the specifications spell it, in capitals.
    pub const fn name(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PixelFormat {
    type Err = Error;

    /// Parses a [`PixelFormat::name`], in upper or lower case.
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::invalid("PixelFormat::from_str", format!("unknown format '{text}'; the formats are {names}"))
        })
    }
}
