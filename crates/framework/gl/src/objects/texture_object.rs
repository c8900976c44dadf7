//! 2-D textures: created, swizzled and written.

use crate::api::gl_format::{GlFormat, TexelDecoding};
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::objects::state_guards::{BoundTexture, Unpack};
use glow::{HasContext as _, PixelUnpackData};
use interop_core::{Region, Result};
use std::sync::Arc;

/// Creates a 2-D texture whose storage `give_storage` allocates while it is bound. The caller checks for errors.
pub(crate) fn bare_texture(
    shared: &Arc<ContextState>,
    give_storage: impl FnOnce(),
) -> Result<OwnedObject<glow::Texture>> {
    let (gl, target) = (&shared.gl, glow::TEXTURE_2D);
    // SAFETY: the context is current; all of it is of GL 3.3.
    unsafe {
        let texture = OwnedObject::new(shared, gl.create_texture().map_err(|e| shared.no_name("glGenTextures", &e))?);
        let _bound = BoundTexture::bind(shared, target, texture.get());
        give_storage();
        PARAMETERS.iter().for_each(|(p, v)| gl.tex_parameter_i32(target, *p, *v as i32));
        Ok(texture)
    }
}

/// Creates a texture without content.
pub(crate) fn create_texture(
    shared: &Arc<ContextState>,
    width: u32,
    height: u32,
    format: GlFormat,
) -> Result<OwnedObject<glow::Texture>> {
    const CALL: &str = "glTexStorage2D";
    let gl = &shared.gl;
    let (w, h) = (width as i32, height as i32); // checked against MAX_TEXTURE_SIZE before
    let target = glow::TEXTURE_2D;
    shared.drain_errors(CALL);
    let texture = if shared.features.dsa {
        // SAFETY: the context is current and has direct calls; the format is one that GL 3.3 has.
        unsafe {
            let name = gl.create_named_texture(target).map_err(|e| shared.no_name("glCreateTextures", &e))?;
            gl.texture_storage_2d(name, 1, format.internal, w, h);
            PARAMETERS.iter().for_each(|(p, v)| gl.texture_parameter_i32(name, *p, *v as i32));
            OwnedObject::new(shared, name)
        }
    } else {
        // SAFETY: the context is current; the format is one that GL 3.3 has, and the call above it is gated.
        bare_texture(shared, || unsafe {
            if shared.features.texture_storage {
                gl.tex_storage_2d(target, 1, format.internal, w, h);
            } else {
                // With an unpack buffer bound, null data would mean its first byte.
                let _unpack = Unpack::set(shared, 0, None);
                let no_data = PixelUnpackData::Slice(None);
                gl.tex_image_2d(target, 0, format.internal as i32, w, h, 0, format.format, format.ty, no_data);
            }
        })?
    };
    shared.check(CALL)?;
    Ok(texture)
}

/// Sets the swizzle so that sampling returns colours in the format's channel order.
pub(crate) fn set_order(shared: &ContextState, texture: glow::Texture, format: GlFormat) -> Result<()> {
    if format.decoding != TexelDecoding::Bgra {
        return Ok(());
    }
    let (gl, target) = (&shared.gl, glow::TEXTURE_2D);
    shared.checked("glTexParameteri", || {
        let _bound = BoundTexture::bind(shared, target, texture);
        // SAFETY: the context is current and the bound texture is of it; swizzles are of GL 3.3.
        unsafe {
            gl.tex_parameter_i32(target, glow::TEXTURE_SWIZZLE_R, glow::BLUE as i32);
            gl.tex_parameter_i32(target, glow::TEXTURE_SWIZZLE_B, glow::RED as i32);
        }
    })
}

const PARAMETERS: [(u32, u32); 5] = [
    (glow::TEXTURE_MIN_FILTER, glow::NEAREST),
    (glow::TEXTURE_MAG_FILTER, glow::NEAREST),
    (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
    (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
    (glow::TEXTURE_MAX_LEVEL, 0),
];

/// `glTexSubImage2D` of one level-0 region, with direct state access where available.
pub(crate) fn sub_image(
    shared: &ContextState,
    texture: glow::Texture,
    at: Region,
    format: GlFormat,
    data: PixelUnpackData<'_>,
) {
    let (x, y, w, h) = (at.x as i32, at.y as i32, at.width as i32, at.height as i32);
    let gl = &shared.gl;
    // SAFETY: the context is current, the region lies inside the texture, and the unpack state and `data` describe
    // memory that holds that many pixels (checked by the callers).
    unsafe {
        if shared.features.dsa {
            gl.texture_sub_image_2d(texture, 0, x, y, w, h, format.format, format.ty, data);
        } else {
            let _bound = BoundTexture::bind(shared, glow::TEXTURE_2D, texture);
            gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, x, y, w, h, format.format, format.ty, data);
        }
    }
}
