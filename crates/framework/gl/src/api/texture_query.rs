//! Texture queries by name, and texture views: functions of OpenGL 4.3 and 4.5 that glow does not wrap.

use crate::api::functions::functions;
use std::num::NonZeroU32;

functions! {
    /// Their signatures are those of OpenGL 4.6 core, sections 8.11.2 and 8.18.
    all TextureFns {
        get = c"glGetTextureParameteriv", fn(texture: u32, parameter: u32, value: *mut i32);
        view = c"glTextureView", fn(u32, target: u32, of: u32, format: u32, u32, levels: u32, u32, layers: u32);
    }
}

impl TextureFns {
    /// Returns a parameter that is one integer.
    ///
    /// # Safety
    /// The context is current, has OpenGL 4.5, and the texture is of it.
    pub(crate) unsafe fn parameter(&self, texture: glow::Texture, parameter: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the caller's promise; one integer is written.
        unsafe { (self.get)(texture.0.get(), parameter, &raw mut value) };
        value
    }

    /// Makes `view`, a name that was never bound, a 2-D texture view in `format` of one layer of one level of `of`.
    ///
    /// # Safety
    /// The conditions of [`TextureFns::parameter`] hold for both textures; the storage of `of` is immutable.
    pub(crate) unsafe fn view(&self, view: glow::Texture, of: glow::Texture, format: u32, level: i32, layer: i32) {
        let [level, layer] = [level, layer].map(|v| u32::try_from(v).unwrap_or(0));
        let name = |texture: glow::Texture| NonZeroU32::get(texture.0);
        // SAFETY: the caller's promise; invalid arguments are a GL error.
        unsafe { (self.view)(name(view), glow::TEXTURE_2D, name(of), format, level, 1, layer, 1) }
    }
}
