//! Draws into a texture that is an engine's own.

use crate::display::contract::GlDisplay;
use crate::objects::draw_state::Viewport;
use crate::surface::engine_level::{Attached, EngineTexture, Level};
use interop_core::describe::error::call;
use interop_core::display::Surface;
use interop_core::{DrawOptions, Result};

impl GlDisplay {
    /// Draws an image surface into a texture that the engine made and owns, over what is there: in all else as
    /// [`GlDisplay::draw`] does into a framebuffer over that level.
    ///
    /// The texture is never kept: it may be given new storage or be deleted at any time between two calls. `viewport` is a part
    /// of the level; [`EngineTexture::viewport`] is all of it. A compute shader draws where `draw` would let it, so best into
    /// storage made by `glTexStorage2D`. A format that encodes does so where [`interop_core::TargetEncoding::SrgbFormat`] asks
    /// for it, else the numbers go there as they are. Levels above are not made again.
    ///
    /// # Errors
    /// The errors of [`GlDisplay::draw`]. [`interop_core::Error::InvalidInput`] also for a number that is no texture of this context,
    /// a texture that is not a `TEXTURE_2D`, and the texture that is shown. [`interop_core::Error::InvalidInput`] also for a level
    /// that the texture lacks, a size that is not the level's, and a format that holds integers or is not
    /// colour-renderable. Nothing is drawn then. OpenGL ES 3.0 tells the driver's checks no size of a level, so there it is the
    /// caller's word. [`interop_core::Error::Unsupported`] in OpenGL ES without `GL_EXT_sRGB_write_control` for a format that
    /// encodes, where the options do not ask for that.
    ///
    /// # Safety
    /// Anybody's texture may have that number, so the caller vouches for what the driver cannot say: the texture is the caller's
    /// own, or its owner has agreed. Until the draw is done, no other API has it (CUDA, OpenCL and Vulkan let go of it before), no
    /// other context changes it, and it shares no storage with what is shown (`glTextureView`).
    ///
    /// # Examples
    /// ```
    /// use pixelferry_gl::glow::{self, HasContext as _};
    /// use pixelferry_gl::{DrawOptions, EngineTexture, GlDisplay, HeadlessOptions};
    /// use interop_core::{Display as _, Extent, Part, PixelFormat, SurfaceDesc, conformance::tight};
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
    /// // A link's `shown()?.surface()` stands here in a program.
    /// let desc = SurfaceDesc::image(2, 2, PixelFormat::Rgba8);
    /// let mut surface = display.create_surface(&desc)?;
    /// surface.upload(&Part::full(&desc), &[7; 16], &tight(&desc)?)?;
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
                return Err(level.refuse("it is the texture that is shown, which a draw cannot read and write at once"));
            }
            let _attached = Attached::new(shared, self.tools().lent_framebuffer()?, &level)?;
            self.draw_bound(surface, viewport, options)
        })
    }
}
