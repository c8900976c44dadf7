//! Draws into a texture that is an engine's own.

use crate::context_state::ContextState;
use crate::display::GlDisplay;
use crate::draw_state::Viewport;
use crate::state::{BoundTexture, Framebuffers};
use glow::HasContext as _;
use interop_core::display::Surface;
use interop_core::{DrawOptions, Error, Extent, Result};
use std::num::NonZeroU32;

const OP: &str = "draw_to_texture";

/// No texture has more levels: sides are less than 2^31.
const MOST_LEVELS: u32 = 31;

/// One level of an engine's `TEXTURE_2D`, for [`GlDisplay::draw_to_texture`]. It is a plain number, so any version of glow will do,
/// or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineTexture {
    /// Object name.
    pub id: u32,
    /// Mip level.
    pub level: u32,
    /// Size of that level in pixels.
    pub extent: Extent,
}

impl EngineTexture {
    /// Level 0 of a texture, of this size.
    pub const fn new(id: u32, extent: Extent) -> Self {
        Self { id, level: 0, extent }
    }

    /// Takes another level of the texture; `extent` is the size of that level.
    #[must_use]
    pub const fn with_level(self, level: u32, extent: Extent) -> Self {
        Self { level, extent, ..self }
    }

    /// All of the level.
    pub const fn viewport(&self) -> Viewport {
        Viewport::full(self.extent.width, self.extent.height)
    }
}

impl GlDisplay {
    /// Draws an image surface into a texture that the engine made and owns, over what is there: in all else as
    /// [`GlDisplay::draw`] does into a framebuffer over that level.
    ///
    /// The texture is never kept: it may be given new storage or be deleted at any time between two calls. `viewport` is a part
    /// of the level; [`EngineTexture::viewport`] is all of it. A compute shader draws where `draw` would let it, so best into
    /// storage made by `glTexStorage2D`. A format that encodes does so where [`interop_core::TargetEncoding::SrgbFormat`] asks
    /// for it, else the numbers go there as they are. Levels above are not made anew.
    ///
    /// # Errors
    /// The errors of [`GlDisplay::draw`]. [`Error::InvalidInput`] also for a number that is no texture of this context,
    /// a texture that is not a `TEXTURE_2D`, and the texture that is shown. [`Error::InvalidInput`] also for a level
    /// that the texture lacks, a size that is not the level's, and a format that holds integers or is not
    /// colour-renderable. Nothing is drawn then.
    ///
    /// # Safety
    /// Anybody's texture may have that number, so the caller vouches for what the driver cannot say: the texture is the caller's
    /// own, or its owner has agreed. Until the draw is done, no other API has it (CUDA, OpenCL and Vulkan let go of it before), no
    /// other context changes it, and it shares no storage with what is shown (`glTextureView`).
    ///
    /// # Examples
    /// ```
    /// use gl_display::glow::{self, HasContext as _};
    /// use gl_display::{DrawOptions, EngineTexture, GlDisplay, HeadlessOptions};
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
    /// unsafe { display.draw_to_texture(surface.as_ref(), target, target.viewport(), DrawOptions::default()) }?;
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
    /// # use gl_display::{DrawOptions, EngineTexture, GlDisplay};
    /// # fn draw(display: &GlDisplay, surface: &dyn interop_core::Surface, target: EngineTexture) {
    /// let drawn = display.draw_to_texture(surface, target, target.viewport(), DrawOptions::default());
    /// # }
    /// ```
    pub unsafe fn draw_to_texture(
        &self,
        surface: &dyn Surface,
        texture: EngineTexture,
        viewport: Viewport,
        options: DrawOptions,
    ) -> Result<()> {
        let shared = self.shared();
        shared.enter(OP)?;
        let level = Level::find(shared, texture)?;
        if self.image_source(surface, OP)?.texture == level.texture {
            return Err(level.refuse("it is the texture that is shown, which a draw cannot read and write at once"));
        }
        let _attached = Attached::new(shared, self.tools().lent_framebuffer()?, &level)?;
        self.draw_bound(OP, surface, viewport, options)
    }
}

/// A level that the driver knows.
struct Level {
    texture: glow::Texture,
    level: i32,
    /// The internal format.
    format: u32,
}

impl Level {
    /// The context must be current.
    fn find(shared: &ContextState, of: EngineTexture) -> Result<Self> {
        let EngineTexture { id, level, extent } = of;
        let gl = &shared.gl;
        let no_texture = || Error::invalid(OP, format!("{id} is the name of no texture of this context"));
        let texture = glow::NativeTexture(NonZeroU32::new(id).ok_or_else(no_texture)?);
        // SAFETY: the context is current, and any number may be asked for.
        if !unsafe { gl.is_texture(texture) } {
            return Err(no_texture());
        }
        if extent.width == 0 || extent.height == 0 {
            return Err(Error::invalid(OP, format!("a level of {extent} pixels was given for texture {id}")));
        }
        let no_level = || Error::invalid(OP, format!("texture {id} has no level {level}"));
        if level >= MOST_LEVELS {
            return Err(no_level());
        }
        let level = level as i32;
        // Other targets refuse it, and the binding stays.
        shared.drain_errors(OP);
        let _bound = BoundTexture::bind(shared, glow::TEXTURE_2D, texture);
        let other_target = || Error::invalid(OP, format!("texture {id} is not a TEXTURE_2D"));
        check_unless(shared, glow::INVALID_OPERATION, other_target)?;
        // SAFETY: the context is current, the texture is bound, and the parameters are of GL 3.0.
        let get = |parameter| unsafe { gl.get_tex_level_parameter_i32(glow::TEXTURE_2D, level, parameter) as u32 };
        let found = Extent::new(get(glow::TEXTURE_WIDTH), get(glow::TEXTURE_HEIGHT));
        let (numbers, format) = (get(glow::TEXTURE_RED_TYPE), get(glow::TEXTURE_INTERNAL_FORMAT));
        // Of a level past the last that the driver could have.
        check_unless(shared, glow::INVALID_VALUE, no_level)?;
        if found.pixels() == 0 {
            return Err(no_level());
        }
        let this = Self { texture, level, format };
        if found != extent {
            return Err(this.refuse(&format!("it is {found} pixels, not {extent}")));
        }
        if [glow::INT, glow::UNSIGNED_INT].contains(&numbers) {
            return Err(this.refuse("it holds integers; colours are drawn into normalised numbers or floats"));
        }
        Ok(this)
    }

    fn refuse(&self, why: &str) -> Error {
        let Self { texture, level, format } = self;
        Error::invalid(OP, format!("texture {}, level {level}, internal format {format:#x}: {why}", texture.0))
    }
}

/// The queued error, for which `refusal` stands where the driver refused a value with this code.
fn check_unless(shared: &ContextState, code: u32, refusal: impl FnOnce() -> Error) -> Result<()> {
    shared.check(OP).map_err(|error| match &error {
        Error::Driver(driver) if driver.code == i64::from(code) => refusal(),
        _ => error,
    })
}

/// A level as the first colour buffer of the framebuffer that is bound. Dropped: it is that no more, and what was bound is again.
struct Attached<'a> {
    shared: &'a ContextState,
    _bound: Framebuffers<'a>,
}

impl<'a> Attached<'a> {
    /// The context must be current, and the framebuffer be without attachments.
    fn new(shared: &'a ContextState, framebuffer: glow::Framebuffer, level: &Level) -> Result<Self> {
        let attached = Self { shared, _bound: Framebuffers::bind(shared, framebuffer) };
        attached.attach(Some(level.texture), level.level);
        // SAFETY: the context is current.
        let status = unsafe { shared.gl.check_framebuffer_status(glow::DRAW_FRAMEBUFFER) };
        let error = shared.check(OP);
        match status {
            glow::FRAMEBUFFER_COMPLETE => return error.map(|()| attached),
            // It could not say.
            0 => error?,
            // What it has against the level it says by the status, too.
            _ => {}
        }
        Err(level.refuse(&format!(
            "the driver cannot draw into it (glCheckFramebufferStatus: {status:#x}); give it a colour-renderable format such as \
             RGBA8 or RGBA16F, and all levels, best by glTexStorage2D"
        )))
    }

    fn attach(&self, texture: Option<glow::Texture>, level: i32) {
        let (target, at) = (glow::DRAW_FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        // SAFETY: the context is current with our framebuffer bound; a texture was found to be a TEXTURE_2D of it.
        unsafe { self.shared.gl.framebuffer_texture_2d(target, at, glow::TEXTURE_2D, texture, level) }
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        // An engine's texture that it deletes must go then.
        self.attach(None, 0);
    }
}
