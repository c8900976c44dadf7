//! The texture behind the framebuffer that is bound for drawing, for shaders that store into it.

use crate::api::texture_query::TextureFns;
use crate::context::context_state::ContextState;
use glow::HasContext as _;
use interop_core::draw::{Obstacle, StoreCaps};
use std::num::NonZeroU32;

/// `GL_TEXTURE_TARGET` of OpenGL 4.5, a name that glow lacks.
const TEXTURE_TARGET: u32 = 0x1006;

/// The kinds of textures whose layers are 2-D images.
const KINDS: [u32; 5] =
    [glow::TEXTURE_2D, glow::TEXTURE_2D_ARRAY, glow::TEXTURE_3D, glow::TEXTURE_CUBE_MAP, glow::TEXTURE_CUBE_MAP_ARRAY];

/// A format that image units support (OpenGL 4.6 core, table 8.26).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreFormat {
    pub internal: u32,
    /// The format's name in a layout qualifier.
    pub layout: &'static str,
    /// True where it holds only 0 to 1.
    pub fixed: bool,
}

const FORMATS: [StoreFormat; 14] = {
    const fn row(internal: u32, layout: &'static str, fixed: bool) -> StoreFormat {
        StoreFormat { internal, layout, fixed }
    }
    [
        row(glow::RGBA8, "rgba8", true),
        row(glow::RGBA16F, "rgba16f", false),
        row(glow::RGBA32F, "rgba32f", false),
        row(glow::RGB10_A2, "rgb10_a2", true),
        row(glow::R11F_G11F_B10F, "r11f_g11f_b10f", false),
        row(glow::RGBA16, "rgba16", true),
        row(glow::RG8, "rg8", true),
        row(glow::RG16, "rg16", true),
        row(glow::RG16F, "rg16f", false),
        row(glow::RG32F, "rg32f", false),
        row(glow::R8, "r8", true),
        row(glow::R16, "r16", true),
        row(glow::R16F, "r16f", false),
        row(glow::R32F, "r32f", false),
    ]
};

impl StoreFormat {
    pub(crate) fn of(internal: u32) -> Option<Self> {
        FORMATS.into_iter().find(|format| format.internal == internal)
    }
}

/// One layer of a level of a texture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attachment {
    pub texture: glow::Texture,
    pub level: i32,
    pub layer: i32,
    pub width: u32,
    pub height: u32,
    pub format: StoreFormat,
    /// True where the texture's own format encodes, so that stores use a view that does not.
    pub encodes: bool,
}

impl Attachment {
    pub(crate) const fn storing(&self) -> StoreCaps {
        // Every format of the table can be read, and the shader encodes.
        StoreCaps { reads: true, encodes: true }
    }

    /// Returns the texture of the first colour buffer of the framebuffer object that is bound for drawing. The context
    /// must be current and have compute shaders.
    pub(crate) fn bound(shared: &ContextState) -> Result<Self, Obstacle> {
        let features = &shared.features;
        let textures = shared.raw.textures.filter(|_| features.texture_kinds && features.version >= (4, 3));
        let reason = "the attachments of a framebuffer can be queried only in the core profile of OpenGL 4.5, through \
                      its own loaded functions";
        let textures = textures.ok_or(Obstacle::NoShader(reason.into()))?;
        let gl = &shared.gl;
        // SAFETY: the context is current; an attachment is asked for what it is only where there is one, and of a texture.
        unsafe {
            let buffer = gl.get_parameter_i32(glow::DRAW_BUFFER0) as u32;
            let get = |name| gl.get_framebuffer_attachment_parameter_i32(glow::DRAW_FRAMEBUFFER, buffer, name);
            if buffer == glow::NONE || get(glow::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32 != glow::TEXTURE {
                return Err(Obstacle::NoTexture);
            }
            let name = NonZeroU32::new(get(glow::FRAMEBUFFER_ATTACHMENT_OBJECT_NAME) as u32);
            let texture = name.map(glow::NativeTexture).ok_or(Obstacle::NoTexture)?;
            let level = get(glow::FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL);
            let face = get(glow::FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE) as u32;
            let layer = match face.checked_sub(glow::TEXTURE_CUBE_MAP_POSITIVE_X) {
                Some(face) => face as i32,
                None => get(glow::FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER),
            };
            Self::texture(shared, &textures, texture, level, layer)
        }
    }

    /// # Safety
    /// The context is current, has OpenGL 4.5, and the texture is of it and has that level and layer.
    unsafe fn texture(
        shared: &ContextState,
        textures: &TextureFns,
        texture: glow::Texture,
        level: i32,
        layer: i32,
    ) -> Result<Self, Obstacle> {
        // SAFETY: the caller's promise.
        let (of_level, of_texture) = unsafe {
            (
                |name| shared.gl.get_texture_level_parameter_i32(texture, level, name) as u32,
                |name| textures.parameter(texture, name) as u32,
            )
        };
        let kind = of_texture(TEXTURE_TARGET);
        if kind == 0 {
            // Mesa (22.3) rejects the query in compatibility profiles; its error must not remain in the queue.
            // SAFETY: the caller's promise.
            unsafe { shared.gl.get_error() };
            return Err(Obstacle::Texture("the driver does not report its kind (compatibility profile)"));
        }
        if of_level(glow::TEXTURE_SAMPLES) > 0 {
            return Err(Obstacle::Texture("it has several samples for each pixel"));
        }
        if !KINDS.contains(&kind) {
            return Err(Obstacle::Texture("it is one-dimensional, or a rectangle texture"));
        }
        let immutable = of_texture(glow::TEXTURE_IMMUTABLE_FORMAT) != 0;
        // Image units support only complete textures (OpenGL 4.6 core, sections 8.17 and 8.26).
        let one_level = [glow::NEAREST, glow::LINEAR].contains(&of_texture(glow::TEXTURE_MIN_FILTER))
            && of_texture(glow::TEXTURE_BASE_LEVEL) == level as u32;
        if !immutable && !one_level {
            return Err(Obstacle::Texture(
                "levels may be missing; create it with glTexStorage2D, or filter without mipmaps",
            ));
        }
        let own = of_level(glow::TEXTURE_INTERNAL_FORMAT);
        let encodes = own == glow::SRGB8_ALPHA8;
        if encodes && (!immutable || kind == glow::TEXTURE_3D) {
            return Err(Obstacle::Texture(
                "it encodes, and cannot have a view that does not; create it with glTexStorage2D",
            ));
        }
        let wanted = if encodes { glow::RGBA8 } else { own };
        let format =
            StoreFormat::of(wanted).ok_or_else(|| Obstacle::Format(format!("the internal format {own:#x}")))?;
        let (width, height) = (of_level(glow::TEXTURE_WIDTH), of_level(glow::TEXTURE_HEIGHT));
        Ok(Self { texture, level, layer, width, height, format, encodes })
    }
}
