//! Surfaces as OpenGL objects, for drawing of the user's own.

/// A surface as a texture, for drawing of the user's own.
///
/// Row 0 of the texture is the bottom row of the picture, as in any OpenGL texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlTexture {
    /// Object name. Valid until the surface shows another frame or goes; do not delete it.
    pub name: glow::Texture,
    /// `TEXTURE_2D`, or `TEXTURE_BUFFER` for images shown in place.
    pub target: u32,
    /// For `TEXTURE_BUFFER`: texel of pixel (0, 0); else 0.
    pub first_texel: u32,
    /// For `TEXTURE_BUFFER`: texels from one row to the next; else 0.
    pub row_texels: u32,
}

impl GlTexture {
    /// The object name as a number, for callers without glow or with another version of it.
    pub fn id(&self) -> u32 {
        self.name.0.get()
    }
}

/// A surface as a buffer, for vertices or storage of the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlBuffer {
    /// Object name. Valid until the surface shows another frame or goes; do not delete it.
    pub name: glow::Buffer,
    /// First byte of the surface in the buffer: not always 0 for surfaces shown in place.
    pub offset: usize,
    /// Bytes.
    pub len: usize,
}

impl GlBuffer {
    /// The object name as a number, for callers without glow or with another version of it.
    pub fn id(&self) -> u32 {
        self.name.0.get()
    }
}
