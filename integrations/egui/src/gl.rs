//! An OpenGL texture that egui owns.

use crate::OP;
use eframe::egui::TextureId;
use eframe::glow::{self, HasContext as _};
use pixelferry::api::gl::{EngineTexture, GlDisplay};
use pixelferry::{DrawOptions, Error, Extent, Filter, Result, Surface};
use std::sync::Arc;

/// Owner of egui's textures in OpenGL: [`eframe::Frame`] or an `egui_glow::Painter`.
///
/// # Safety
/// [`GlTextures::has`] must be correct.
pub unsafe trait GlTextures {
    /// Gives a texture to egui. `None` if egui does not draw with OpenGL.
    fn register(&mut self, texture: glow::Texture) -> Option<TextureId>;

    /// Returns whether egui still has this texture under that number.
    fn has(&self, id: TextureId, texture: glow::Texture) -> bool;
}

// SAFETY: eframe deletes registered textures when the app ends, and nothing else can access its painter.
unsafe impl GlTextures for eframe::Frame {
    fn register(&mut self, texture: glow::Texture) -> Option<TextureId> {
        self.gl().is_some().then(|| self.register_native_glow_texture(texture))
    }

    fn has(&self, _: TextureId, _: glow::Texture) -> bool {
        self.gl().is_some()
    }
}

// SAFETY: the painter deletes a texture when it forgets its number.
unsafe impl GlTextures for eframe::egui_glow::Painter {
    fn register(&mut self, texture: glow::Texture) -> Option<TextureId> {
        Some(self.register_native_texture(texture))
    }

    fn has(&self, id: TextureId, texture: glow::Texture) -> bool {
        self.texture(id) == Some(texture)
    }
}

pub(crate) struct GlTexture {
    pub display: Arc<GlDisplay>,
    pub registered: Option<(glow::Texture, TextureId)>,
    /// Size and filter that its storage was made for.
    pub made: Option<(Extent, Filter)>,
}

impl GlTexture {
    pub(crate) fn draw(
        &mut self,
        shown: &Surface,
        extent: Extent,
        options: DrawOptions,
        textures: &mut dyn GlTextures,
    ) -> Result<TextureId> {
        // Fails if another context is current.
        self.display.delete_dropped()?;
        let (texture, id) = match self.registered.filter(|&(texture, id)| textures.has(id, texture)) {
            Some(both) => both,
            None => {
                self.made = None;
                // SAFETY: the context is current.
                let texture = unsafe { self.display.gl().create_texture() }.map_err(|why| Error::invalid(OP, why))?;
                let Some(id) = textures.register(texture) else {
                    // SAFETY: the context is current, and nothing else uses the texture.
                    unsafe { self.display.gl().delete_texture(texture) };
                    return Err(Error::invalid(OP, "egui does not draw with OpenGL here"));
                };
                *self.registered.insert((texture, id))
            }
        };
        if self.made != Some((extent, options.filter)) {
            make_storage(self.display.gl(), texture, extent, options.filter);
            self.made = Some((extent, options.filter));
        }
        let target = EngineTexture::new(texture.0.get(), extent);
        // SAFETY: egui still has the texture, which was made for this, and draws nothing during the call.
        unsafe { self.display.draw_to_texture(shown, target, target.viewport(), options) }?;
        Ok(id)
    }
}

/// Allocates storage under the name that egui keeps, so not with `glTexStorage2D`. The context must be current.
fn make_storage(gl: &glow::Context, texture: glow::Texture, extent: Extent, filter: Filter) {
    let (width, height, target, edge) =
        (extent.width as i32, extent.height as i32, glow::TEXTURE_2D, glow::CLAMP_TO_EDGE);
    let filter = if filter == Filter::Nearest { glow::NEAREST } else { glow::LINEAR };
    let filters = [(glow::TEXTURE_MIN_FILTER, filter), (glow::TEXTURE_MAG_FILTER, filter)];
    // SAFETY: the context is current and owns the texture; no pixels are read, because no buffer is bound to read them
    // from.
    unsafe {
        let bound = gl.get_parameter_texture(glow::TEXTURE_BINDING_2D);
        let unpacked = gl.get_parameter_buffer(glow::PIXEL_UNPACK_BUFFER_BINDING);
        gl.bind_texture(target, Some(texture));
        gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
        for (name, value) in filters.into_iter().chain([(glow::TEXTURE_WRAP_S, edge), (glow::TEXTURE_WRAP_T, edge)]) {
            gl.tex_parameter_i32(target, name, value as i32);
        }
        let (format, bytes, nothing) = (glow::RGBA, glow::UNSIGNED_BYTE, glow::PixelUnpackData::Slice(None));
        gl.tex_image_2d(target, 0, glow::RGBA8 as i32, width, height, 0, format, bytes, nothing);
        gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, unpacked);
        gl.bind_texture(target, bound);
    }
}
