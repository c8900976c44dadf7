//! Pixel formats as OpenGL names them (OpenGL 4.6 core, tables 8.2, 8.3, 8.12 and 8.16).

use interop_core::PixelFormat;
use interop_core::{Error, Result};

/// The names of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GlFormat {
    /// Sized internal format; also that of buffer textures and colour attachments.
    pub internal: u32,
    /// The sized format of unsigned integers that has the same channels, for copies that change no bit.
    pub integers: u32,
    /// Channels in client memory.
    pub format: u32,
    /// Type of a channel in client memory.
    pub ty: u32,
    /// Bytes of a channel: offsets into pixel buffers must be multiples of it.
    pub channel_bytes: usize,
}

/// Names of `format`.
pub(crate) fn gl_format(format: PixelFormat, operation: &'static str) -> Result<GlFormat> {
    let (internal, integers, names, ty) = match format {
        PixelFormat::R8 => (glow::R8, glow::R8UI, glow::RED, glow::UNSIGNED_BYTE),
        PixelFormat::Rg8 => (glow::RG8, glow::RG8UI, glow::RG, glow::UNSIGNED_BYTE),
        PixelFormat::Rgba8 => (glow::RGBA8, glow::RGBA8UI, glow::RGBA, glow::UNSIGNED_BYTE),
        PixelFormat::Rgba16F => (glow::RGBA16F, glow::RGBA16UI, glow::RGBA, glow::HALF_FLOAT),
        PixelFormat::R32F => (glow::R32F, glow::R32UI, glow::RED, glow::FLOAT),
        PixelFormat::Rgba32F => (glow::RGBA32F, glow::RGBA32UI, glow::RGBA, glow::FLOAT),
        other => return Err(Error::invalid(operation, format!("OpenGL has no texture format for {other}"))),
    };
    Ok(GlFormat { internal, integers, format: names, ty, channel_bytes: format.channel_kind().bytes() })
}
