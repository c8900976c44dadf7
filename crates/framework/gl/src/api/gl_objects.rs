//! Surfaces as OpenGL objects, for the user's own drawing.

/// A surface as a texture, for the user's own drawing.
///
/// Row 0 of the texture is the bottom row of the picture, as in any OpenGL texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlTexture {
    /// Name of the texture object. It is valid until the surface shows another frame or is dropped; do not delete it.
    pub name: glow::Texture,
    /// `TEXTURE_2D`, or `TEXTURE_BUFFER` for images shown in place.
    pub target: u32,
    /// For `TEXTURE_BUFFER`: texel index of pixel (0, 0); otherwise 0.
    pub first_texel: u32,
    /// For `TEXTURE_BUFFER`: texels from one row to the next; otherwise 0.
    pub row_texels: u32,
}

impl GlTexture {
    /// Returns the object name as a number, for callers without glow or with another version of it.
    pub fn id(&self) -> u32 {
        self.name.0.get()
    }
}

/// A surface as a buffer, for vertices or storage of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlBuffer {
    /// Name of the buffer object. It is valid until the surface shows another frame or is dropped; do not delete it.
    pub name: glow::Buffer,
    /// First byte of the surface in the buffer; it may differ from 0 for surfaces shown in place.
    pub offset: usize,
    /// Length of the surface in bytes.
    pub len: usize,
}

impl GlBuffer {
    /// Returns the object name as a number, for callers without glow or with another version of it.
    pub fn id(&self) -> u32 {
        self.name.0.get()
    }
}
