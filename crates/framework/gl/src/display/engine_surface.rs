//! An engine's own textures and buffers as surfaces, so that compute devices can read their rendered content.

use crate::display::contract::GlDisplay;
use crate::objects::buffer_object::{check_buffer, no_buffer};
use crate::surface::buffer::BufferSurface;
use crate::surface::engine_level::{EngineTexture, Level};
use crate::surface::texture::TextureSurface;
use interop_core::describe::error::call;
use interop_core::display::{Display as _, Surface};
use interop_core::{ImageDesc, PixelFormat, Result, RowOrder};
use std::num::NonZeroU32;

impl GlDisplay {
    /// Wraps level 0 of an engine's texture as a surface with the stored numbers: for [`Intake`](interop_core::Intake),
    /// with which kernels read the content that the engine rendered.
    ///
    /// Row 0 is at the bottom. `format` is the format of the texture (`RGBA8` for [`PixelFormat::Rgba8`] and so on;
    /// `SRGB8_ALPHA8` counts as `RGBA8`). While the texture has another size or format, or is deleted, each call fails.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::InvalidInput`] for a number that is not a
    /// `TEXTURE_2D` of this context, a level other than 0, another size, or another format.
    ///
    /// # Safety
    /// Any code's texture may have that number, so the caller guarantees: the texture is the caller's own, or its owner
    /// has agreed. It exists with this storage until the surface and everything opened from it
    /// ([`interop_core::Intake`]) are dropped. No other context changes it in the meantime.
    ///
    /// # Examples
    /// ```
    /// use pixelferry_gl::glow::{self, HasContext as _};
    /// use pixelferry_gl::{EngineTexture, GlDisplay, HeadlessOptions};
    /// use interop_core::{Extent, PixelFormat, SurfacePart};
    ///
    /// let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// let gl = display.gl();
    /// // SAFETY: the context is current; the engine renders here.
    /// let texture = unsafe {
    ///     let texture = gl.create_texture().unwrap();
    ///     gl.bind_texture(glow::TEXTURE_2D, Some(texture));
    ///     gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, 2, 1);
    ///     let pixels = glow::PixelUnpackData::Slice(Some(&[1, 2, 3, 4, 5, 6, 7, 8]));
    ///     gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, 2, 1, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
    ///     texture
    /// };
    /// let named = EngineTexture::new(texture.0.get(), Extent::new(2, 1));
    /// // SAFETY: the texture was created above, and is deleted after the surface is dropped.
    /// let mut surface = unsafe { display.engine_image(named, PixelFormat::Rgba8) }?;
    /// let all = SurfacePart::full(surface.desc());
    /// assert_eq!(surface.read_back(&all)?, [1, 2, 3, 4, 5, 6, 7, 8]);
    /// drop(surface);
    /// // SAFETY: the context is current.
    /// unsafe { gl.delete_texture(texture) };
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub unsafe fn engine_image(&self, texture: EngineTexture, format: PixelFormat) -> Result<Surface> {
        call("GlDisplay::engine_image", || {
            let shared = self.shared();
            shared.enter()?;
            let level = Level::of_pixels(self.tools(), texture, format)?;
            let image = ImageDesc::new(texture.extent.width, texture.extent.height, format);
            let image = image.with_row_order(RowOrder::BottomUp);
            Surface::engine_image((self.device(), self.caps()), image, || {
                Ok(TextureSurface::over(self.tools_rc(), &image, level.texture))
            })
        })
    }

    /// Wraps the first `bytes` bytes of an engine's buffer as a surface, like [`GlDisplay::engine_image`] for a
    /// texture.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::InvalidInput`] for a number that is not a buffer
    /// of this context, for 0 bytes, and for more bytes than it has.
    ///
    /// # Safety
    /// The buffer meets the conditions of [`GlDisplay::engine_image`] for textures. While the surface is used, the
    /// buffer is mapped persistently or not at all.
    pub unsafe fn engine_buffer(&self, id: u32, bytes: u64) -> Result<Surface> {
        call("GlDisplay::engine_buffer", || {
            let shared = self.shared();
            shared.enter()?;
            Surface::engine_buffer((self.device(), self.caps()), bytes, |len| {
                let name = NonZeroU32::new(id).map(glow::NativeBuffer).ok_or_else(|| no_buffer(id))?;
                check_buffer(shared, name, bytes)?;
                Ok(BufferSurface::over(self.tools_rc(), len, name))
            })
        })
    }
}
