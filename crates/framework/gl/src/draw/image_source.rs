//! Source of an image's pixels for draws.

use crate::api::gl_format::TexelDecoding;

/// Source of the pixels.
#[derive(Clone, Copy)]
pub(crate) struct ImageSource {
    pub target: u32,
    pub texture: glow::Texture,
    /// Texel index of pixel (0, 0), in a buffer texture.
    pub base: i32,
    /// Texels from row to row, in a buffer texture.
    pub pitch: i32,
    /// Decoding of texels in a buffer texture.
    pub decoding: TexelDecoding,
}

impl ImageSource {
    /// The whole of a 2-D texture.
    pub(crate) const fn texture(texture: glow::Texture) -> Self {
        Self { target: glow::TEXTURE_2D, texture, base: 0, pitch: 0, decoding: TexelDecoding::None }
    }
}
