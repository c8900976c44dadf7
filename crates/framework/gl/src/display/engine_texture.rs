//! Draws into a texture of an engine.

use crate::display::contract::GlDisplay;
use crate::surface::engine_level::{AttachedLevel, EngineTexture, Level};
use interop_core::describe::error::call;
use interop_core::display::Surface;
use interop_core::{DrawOptions, Result, Viewport};

impl GlDisplay {
    /// Draws an image surface over the content of a texture that the engine created and owns. Otherwise it behaves like
    /// [`GlDisplay::draw`] into a framebuffer with that level.
    ///
    /// The texture is never kept: it may get new storage or be deleted at any time between two calls. `viewport` is a
    /// part of the level; [`EngineTexture::viewport`] covers it all. A compute shader may draw under the same
    /// conditions as in `draw`, ideally into storage from `glTexStorage2D`. An encoding format encodes if
    /// [`interop_core::TargetEncoding::SrgbFormat`] requests it; otherwise the numbers are stored unchanged. Other
    /// mipmap levels are not updated.
    ///
    /// # Errors
    /// The errors of [`GlDisplay::draw`]. [`interop_core::Error::InvalidInput`] also for an id that is not a texture of
    /// this context, a texture that is not a `TEXTURE_2D`, and the texture of the shown surface itself; for a level
    /// that the texture lacks, a size that is not the level's, and a format that holds integers or is not
    /// colour-renderable. Nothing is drawn then. OpenGL ES 3.0 cannot query the size of a level, so the size is not
    /// checked there. [`interop_core::Error::Unsupported`] in OpenGL ES without `GL_EXT_sRGB_write_control` for a
    /// format that encodes, if the options do not request encoding.
    ///
    /// # Safety
    /// The id may be that of any texture in the context, and the driver cannot tell whose it is. The texture must be
    /// the caller's own, or its owner must have agreed. Until the draw has completed, no other API may hold it (CUDA,
    /// OpenCL and Vulkan have released it before), no other context may change it, and it must share no storage with
    /// the shown surface (`glTextureView`).
    ///
    /// # Examples
    /// ```
    /// use pixelferry_gl::glow::{self, HasContext as _};
    /// use pixelferry_gl::{DrawOptions, EngineTexture, GlDisplay, HeadlessOptions};
    /// use interop_core::{Display as _, Extent, PixelFormat, SurfaceDesc, SurfacePart, conformance::tight};
    ///
    /// let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// // The engine's texture: RGBA8, 4 x 4.
    /// let gl = display.gl();
    /// // SAFETY: the context is current.
    /// let texture = unsafe {
    ///     let texture = gl.create_texture().unwrap();
    ///     gl.bind_texture(glow::TEXTURE_2D, Some(texture));
    ///     gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, 4, 4);
    ///     texture
    /// };
    /// // A program uses a link's `shown()?.surface()` here.
    /// let desc = SurfaceDesc::image(2, 2, PixelFormat::Rgba8);
    /// let mut surface = display.create_surface(&desc)?;
    /// surface.upload(&SurfacePart::full(&desc), &[7; 16], &tight(&desc)?)?;
    ///
    /// let target = EngineTexture::new(texture.0.get(), Extent::new(4, 4));
    /// // SAFETY: the texture was made above, and nobody else knows it.
    /// unsafe { display.draw_to_texture(&surface, target, target.viewport(), DrawOptions::default()) }?;
    ///
    /// let mut pixels = [0; 64];
    /// let into = glow::PixelPackData::Slice(Some(&mut pixels));
    /// // SAFETY: the context is current, and `pixels` is as large as the texture.
    /// unsafe {
    ///     gl.bind_texture(glow::TEXTURE_2D, Some(texture));
    ///     gl.get_tex_image(glow::TEXTURE_2D, 0, glow::RGBA, glow::UNSIGNED_BYTE, into);
    ///     gl.delete_texture(texture);
    /// }
    /// assert_eq!(pixels, [7; 64]);
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # use pixelferry_gl::{DrawOptions, EngineTexture, GlDisplay};
    /// # fn draw(display: &GlDisplay, surface: &interop_core::Surface, target: EngineTexture) {
    /// let drawn = display.draw_to_texture(surface, target, target.viewport(), DrawOptions::default());
    /// # }
    /// ```
    pub unsafe fn draw_to_texture(
        &self,
        surface: &Surface,
        texture: EngineTexture,
        viewport: Viewport,
        options: DrawOptions,
    ) -> Result<()> {
        call("GlDisplay::draw_to_texture", || {
            let shared = self.shared();
            shared.enter()?;
            let level = Level::find(self.tools(), texture)?;
            if self.image_source(surface)?.texture == level.texture {
                return Err(
                    level.refuse("it is the shown texture itself, which a draw cannot read and write at the same time")
                );
            }
            let _attached = AttachedLevel::new(shared, self.tools().lent_framebuffer()?, &level)?;
            self.draw_bound(surface, viewport, options)
        })
    }
}
