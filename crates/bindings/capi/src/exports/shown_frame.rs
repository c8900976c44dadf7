//! Shown frames.

use crate::abi::*;
use crate::boundary::{fill, optional_structure};
use crate::call::call;
use crate::handles::{Handle as _, free};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_surface(shown: *mut pf_shown, surface: *mut pf_surface) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shown_surface", || unsafe {
        fill(surface, || pf_shown::get(shown)?.with(|shown, _| pf_surface::of(shown.desc())))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_gl_texture(shown: *mut pf_shown, texture: *mut pf_gl_texture) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shown_gl_texture", || unsafe {
        fill(texture, || pf_shown::get(shown)?.with(|shown, link| gl::texture(link.display(), shown.surface()))?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_gl_buffer(shown: *mut pf_shown, buffer: *mut pf_gl_buffer) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shown_gl_buffer", || unsafe {
        fill(buffer, || pf_shown::get(shown)?.with(|shown, link| gl::buffer(link.display(), shown.surface()))?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_draw_gl(
    shown: *mut pf_shown,
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    options: *const pf_draw_options,
) -> pf_status {
    call("pf_shown_draw_gl", || {
        // SAFETY: the header's promise for pointers.
        let options = unsafe { optional_structure(options) }?.draw()?;
        pf_shown::get(shown)?.with(|shown, link| gl::draw(shown, link, (x, y), (width, height), options))?
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_draw_gl_texture(
    shown: *mut pf_shown,
    texture: u32,
    level: u32,
    width: u32,
    height: u32,
    options: *const pf_draw_options,
) -> pf_status {
    call("pf_shown_draw_gl_texture", || {
        // SAFETY: the header's promise for pointers.
        let options = unsafe { optional_structure(options) }?.draw()?;
        pf_shown::get(shown)?.with(|shown, link| {
            // SAFETY: the header's promise for the texture.
            unsafe { gl::draw_to_texture(shown, link, (texture, level), (width, height), options) }
        })?
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_shown_release(shown: *mut pf_shown) -> pf_status {
    call("pf_shown_release", || free(shown))
}

/// Frames of an OpenGL display, and a caller's own objects there.
#[cfg(feature = "gl")]
pub mod gl {
    use crate::abi::{SizedStruct as _, pf_gl_buffer, pf_gl_texture, pf_object};
    use crate::convert::format;
    use crate::failure::{Failure, Result};
    use pixelferry::api::gl::{EngineTexture, GlDisplay, Viewport};
    use pixelferry::{Display, DrawOptions, Error, Extent, LinkCore, ShowOutcome, ShownFrame, Surface, WriteFrame};
    use std::sync::Arc;

    /// True for an OpenGL display.
    pub fn is_there(display: &Arc<dyn Display>) -> bool {
        of(display).is_ok()
    }

    fn of(display: &Arc<dyn Display>) -> Result<&GlDisplay> {
        display.downcast_ref::<GlDisplay>().ok_or_else(|| {
            let device = display.device();
            Failure::argument(format!("{device} is not an OpenGL display; read the frame with pf_link_read_back"))
        })
    }

    /// A shown image.
    pub fn texture(display: &Arc<dyn Display>, surface: &Surface) -> Result<pf_gl_texture> {
        let texture = of(display)?.surface_texture(surface)?;
        Ok(pf_gl_texture {
            name: texture.id(),
            target: texture.target,
            first_texel: texture.first_texel,
            row_texels: texture.row_texels,
            ..pf_gl_texture::blank()
        })
    }

    /// A shown buffer.
    pub fn buffer(display: &Arc<dyn Display>, surface: &Surface) -> Result<pf_gl_buffer> {
        let buffer = of(display)?.surface_buffer(surface)?;
        Ok(pf_gl_buffer {
            offset: buffer.offset as u64,
            bytes: buffer.len as u64,
            name: buffer.id(),
            ..pf_gl_buffer::blank()
        })
    }

    pub fn draw(
        shown: &ShownFrame<'_>,
        link: &LinkCore,
        (x, y): (i32, i32),
        (width, height): (u32, u32),
        options: DrawOptions,
    ) -> Result<()> {
        let viewport = Viewport { x, y, width, height };
        Ok(of(link.display())?.draw(shown.surface(), viewport, options)?)
    }

    /// A frame and its draw as one call.
    pub fn show(
        link: &mut LinkCore,
        (x, y): (i32, i32),
        (width, height): (u32, u32),
        options: DrawOptions,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<(), Error>,
    ) -> Result<Result<ShowOutcome, Error>> {
        let display = Arc::clone(link.display());
        let mut target = of(&display)?.bound_target(Viewport { x, y, width, height });
        Ok(link.show(&mut target, options, compute))
    }

    /// # Safety
    /// The promises of [`GlDisplay::draw_to_texture`].
    pub unsafe fn draw_to_texture(
        shown: &ShownFrame<'_>,
        link: &LinkCore,
        (id, level): (u32, u32),
        (width, height): (u32, u32),
        options: DrawOptions,
    ) -> Result<()> {
        let extent = Extent::new(width, height);
        let texture = EngineTexture::new(id, extent).with_level(level, extent);
        // SAFETY: the caller's promise.
        Ok(unsafe { of(link.display())?.draw_to_texture(shown.surface(), texture, texture.viewport(), options) }?)
    }

    fn name(object: &pf_object) -> Result<u32> {
        u32::try_from(object.handle).map_err(|_| {
            Failure::argument(format!("pf_object.handle is {:#x}, but OpenGL names have 32 bits", object.handle))
        })
    }

    /// # Safety
    /// The promises of [`GlDisplay::engine_image`].
    pub unsafe fn texture_object(display: &Arc<dyn Display>, object: &pf_object) -> Result<Surface> {
        let texture = EngineTexture::new(name(object)?, Extent::new(object.width, object.height));
        // SAFETY: the caller's promise.
        Ok(unsafe { of(display)?.engine_image(texture, format("pf_object", object.format)?) }?)
    }

    /// # Safety
    /// The promises of [`GlDisplay::engine_buffer`].
    pub unsafe fn buffer_object(display: &Arc<dyn Display>, object: &pf_object) -> Result<Surface> {
        // SAFETY: the caller's promise.
        Ok(unsafe { of(display)?.engine_buffer(name(object)?, object.bytes) }?)
    }
}

#[cfg(not(feature = "gl"))]
pub mod gl {
    use crate::abi::{pf_gl_buffer, pf_gl_texture, pf_object};
    use crate::failure::{Failure, Result, absent};
    use pixelferry::{Display, DrawOptions, Error, LinkCore, ShowOutcome, ShownFrame, Surface, WriteFrame};
    use std::sync::Arc;

    pub fn is_there(_: &Arc<dyn Display>) -> bool {
        false
    }

    absent! {
        Failure::not_built_in("gl");
        [] texture(&Arc<dyn Display>, &Surface) -> pf_gl_texture;
        [] buffer(&Arc<dyn Display>, &Surface) -> pf_gl_buffer;
        [] draw(&ShownFrame<'_>, &LinkCore, (i32, i32), (u32, u32), DrawOptions) -> ();
        [] show(
            &mut LinkCore, (i32, i32), (u32, u32), DrawOptions, impl FnMut(&mut WriteFrame<'_>) -> Result<(), Error>
        ) -> Result<ShowOutcome, Error>;
        [unsafe] draw_to_texture(&ShownFrame<'_>, &LinkCore, (u32, u32), (u32, u32), DrawOptions) -> ();
        [unsafe] texture_object(&Arc<dyn Display>, &pf_object) -> Surface;
        [unsafe] buffer_object(&Arc<dyn Display>, &pf_object) -> Surface;
    }
}
