//! Pixel formats in OpenGL's terms (OpenGL 4.6 core, tables 8.2, 8.3, 8.12, 8.16 and 8.25).

use interop_core::PixelFormat;
use interop_core::describe::format::PerFormat;

/// The names of one pixel format in OpenGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlFormat {
    /// Sized internal format, for textures and colour attachments.
    pub internal: u32,
    /// Format of buffer textures over its pixels, and how shaders decode such a texel.
    pub texels: u32,
    pub decoding: TexelDecoding,
    /// The sized format of unsigned integers of the same size, for copies that preserve all bits.
    pub integers: u32,
    /// Channels in client memory, in storage order.
    pub format: u32,
    /// Channels in client memory when colours are read from a framebuffer.
    pub colors: u32,
    /// Type of a channel in client memory.
    pub ty: u32,
}

/// How a shader converts a buffer texture's texel into a colour. Other textures do the same with their swizzle or
/// format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexelDecoding {
    /// The texel is the colour.
    None,
    /// Blue and red are swapped, because OpenGL stores no texture blue first.
    Bgra,
    /// A word of 10, 10, 10 and 2 bits is unpacked.
    Rgb10A2,
    /// 16-bit integers are normalised.
    R16,
}

impl TexelDecoding {
    /// Returns the definition for the fragment shader.
    pub(crate) const fn define(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Bgra => Some("BGRA"),
            Self::Rgb10A2 => Some("RGB10A2"),
            Self::R16 => Some("R16"),
        }
    }
}

const fn plain(internal: u32, integers: u32, format: u32, ty: u32) -> GlFormat {
    let decoding = TexelDecoding::None;
    GlFormat { internal, texels: internal, decoding, integers, format, colors: format, ty }
}

const ROWS: PerFormat<GlFormat> = {
    use glow::{FLOAT, HALF_FLOAT, RED, RG, RGBA, UNSIGNED_BYTE, UNSIGNED_SHORT};
    PerFormat::new([
        (PixelFormat::R8, plain(glow::R8, glow::R8UI, RED, UNSIGNED_BYTE)),
        (PixelFormat::Rg8, plain(glow::RG8, glow::RG8UI, RG, UNSIGNED_BYTE)),
        (PixelFormat::R16, plain(glow::R16, glow::R16UI, RED, UNSIGNED_SHORT)),
        (PixelFormat::R16F, plain(glow::R16F, glow::R16UI, RED, HALF_FLOAT)),
        (PixelFormat::Rgba8, plain(glow::RGBA8, glow::RGBA8UI, RGBA, UNSIGNED_BYTE)),
        (
            PixelFormat::Bgra8,
            GlFormat {
                decoding: TexelDecoding::Bgra,
                colors: glow::BGRA,
                ..plain(glow::RGBA8, glow::RGBA8UI, RGBA, UNSIGNED_BYTE)
            },
        ),
        (
            PixelFormat::Rgb10A2,
            GlFormat {
                texels: glow::R32UI,
                decoding: TexelDecoding::Rgb10A2,
                ..plain(glow::RGB10_A2, glow::R32UI, RGBA, glow::UNSIGNED_INT_2_10_10_10_REV)
            },
        ),
        (PixelFormat::Rg16F, plain(glow::RG16F, glow::RG16UI, RG, HALF_FLOAT)),
        (PixelFormat::R32F, plain(glow::R32F, glow::R32UI, RED, FLOAT)),
        (PixelFormat::Rgba16F, plain(glow::RGBA16F, glow::RGBA16UI, RGBA, HALF_FLOAT)),
        (PixelFormat::Rg32F, plain(glow::RG32F, glow::RG32UI, RG, FLOAT)),
        (PixelFormat::Rgba32F, plain(glow::RGBA32F, glow::RGBA32UI, RGBA, FLOAT)),
    ])
};

/// Returns the names of `format`.
pub(crate) const fn gl_format(format: PixelFormat) -> GlFormat {
    ROWS.get(format)
}

/// Returns the format of buffer textures over such pixels, and how shaders decode a texel. OpenGL ES has no 16-bit
/// normalised numbers there (OpenGL ES 3.2, table 8.20).
pub(crate) const fn texels(format: PixelFormat, es: bool) -> (u32, TexelDecoding) {
    match (format, es) {
        (PixelFormat::R16, true) => (glow::R16UI, TexelDecoding::R16),
        _ => (gl_format(format).texels, gl_format(format).decoding),
    }
}
