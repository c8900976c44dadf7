//! Pixel formats that every path can carry.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Format of one pixel; channels in the order red, green, blue, alpha, native byte order, no padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PixelFormat {
    /// One 8-bit channel, 0..=255 shown as 0..=1.
    R8,
    /// Two 8-bit channels.
    Rg8,
    /// Four 8-bit channels, linear (no sRGB decoding).
    Rgba8,
    /// Four IEEE 754 binary16 channels.
    Rgba16F,
    /// One IEEE 754 binary32 channel.
    R32F,
    /// Four IEEE 754 binary32 channels.
    Rgba32F,
}

/// How one channel is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ChannelKind {
    /// Unsigned 8-bit, normalised when sampled.
    Unorm8,
    /// binary16.
    Float16,
    /// binary32.
    Float32,
}

impl ChannelKind {
    /// Bytes of one channel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Unorm8 => 1,
            Self::Float16 => 2,
            Self::Float32 => 4,
        }
    }
}

impl PixelFormat {
    /// Every format, smallest pixel first.
    pub const ALL: [Self; 6] = [Self::R8, Self::Rg8, Self::Rgba8, Self::R32F, Self::Rgba16F, Self::Rgba32F];

    /// Number of channels.
    pub const fn channels(self) -> usize {
        match self {
            Self::R8 | Self::R32F => 1,
            Self::Rg8 => 2,
            Self::Rgba8 | Self::Rgba16F | Self::Rgba32F => 4,
        }
    }

    /// Storage of one channel.
    pub const fn channel_kind(self) -> ChannelKind {
        match self {
            Self::R8 | Self::Rg8 | Self::Rgba8 => ChannelKind::Unorm8,
            Self::Rgba16F => ChannelKind::Float16,
            Self::R32F | Self::Rgba32F => ChannelKind::Float32,
        }
    }

    /// Bytes of one pixel; always a power of two.
    pub const fn bytes_per_pixel(self) -> usize {
        self.channels() * self.channel_kind().bytes()
    }

    /// Name as the specifications spell it, in capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::R8 => "R8",
            Self::Rg8 => "RG8",
            Self::Rgba8 => "RGBA8",
            Self::Rgba16F => "RGBA16F",
            Self::R32F => "R32F",
            Self::Rgba32F => "RGBA32F",
        }
    }
}

impl fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
