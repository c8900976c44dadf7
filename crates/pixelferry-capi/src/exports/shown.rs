//! Frames that are shown.

use crate::abi::*;
use crate::boundary::{fill, fillable};
use crate::call::call;
use crate::handles::{Handle as _, free};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_surface(shown: *mut pf_shown, surface: *mut pf_surface) -> pf_status {
    call("pf_shown_surface", || {
        // SAFETY: the header's promise for pointers.
        unsafe { fillable(surface) }?;
        let found = pf_shown::get(shown)?.with(|shown, _| pf_surface::of(shown.desc()))?;
        // SAFETY: the same.
        unsafe { fill(surface, found) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_gl_texture(shown: *mut pf_shown, texture: *mut pf_gl_texture) -> pf_status {
    call("pf_shown_gl_texture", || {
        // SAFETY: the header's promise for pointers.
        unsafe { fillable(texture) }?;
        let found = pf_shown::get(shown)?.with(gl::texture)??;
        // SAFETY: the same.
        unsafe { fill(texture, found) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_gl_buffer(shown: *mut pf_shown, buffer: *mut pf_gl_buffer) -> pf_status {
    call("pf_shown_gl_buffer", || {
        // SAFETY: the header's promise for pointers.
        unsafe { fillable(buffer) }?;
        let found = pf_shown::get(shown)?.with(gl::buffer)??;
        // SAFETY: the same.
        unsafe { fill(buffer, found) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_shown_draw_gl(shown: *mut pf_shown, x: i32, y: i32, width: u32, height: u32) -> pf_status {
    call("pf_shown_draw_gl", || {
        pf_shown::get(shown)?.with(|shown, link| gl::draw(shown, link, (x, y), (width, height)))?
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_draw_gl_texture(
    shown: *mut pf_shown,
    texture: u32,
    level: u32,
    width: u32,
    height: u32,
) -> pf_status {
    call("pf_shown_draw_gl_texture", || {
        pf_shown::get(shown)?.with(|shown, link| {
            // SAFETY: the header's promise for the texture.
            unsafe { gl::draw_to_texture(shown, link, texture, level, (width, height)) }
        })?
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_shown_release(shown: *mut pf_shown) -> pf_status {
    call("pf_shown_release", || free(shown))
}

#[cfg(feature = "gl")]
mod gl {
    use crate::abi::{pf_gl_buffer, pf_gl_texture};
    use crate::failure::{Failure, Result};
    use pixelferry::api::gl::{EngineTexture, GlDisplay, Viewport};
    use pixelferry::{DrawOptions, Extent, Link, ShownFrame};

    fn display(link: &Link) -> Result<&GlDisplay> {
        link.display().downcast_ref::<GlDisplay>().ok_or_else(|| {
            let device = link.display().device();
            Failure::argument(format!("{device} is no OpenGL display; read the frame by pf_link_read_back"))
        })
    }

    pub fn texture(shown: &ShownFrame<'_>, link: &Link) -> Result<pf_gl_texture> {
        let texture = display(link)?.surface_texture(shown.surface())?;
        Ok(pf_gl_texture {
            size: size_of::<pf_gl_texture>(),
            name: texture.id(),
            target: texture.target,
            first_texel: texture.first_texel,
            row_texels: texture.row_texels,
        })
    }

    pub fn buffer(shown: &ShownFrame<'_>, link: &Link) -> Result<pf_gl_buffer> {
        let buffer = display(link)?.surface_buffer(shown.surface())?;
        Ok(pf_gl_buffer {
            size: size_of::<pf_gl_buffer>(),
            offset: buffer.offset as u64,
            bytes: buffer.len as u64,
            name: buffer.id(),
            reserved: 0,
        })
    }

    pub fn draw(shown: &ShownFrame<'_>, link: &Link, (x, y): (i32, i32), (width, height): (u32, u32)) -> Result<()> {
        let viewport = Viewport { x, y, width, height };
        Ok(display(link)?.draw(shown.surface(), viewport, DrawOptions::default())?)
    }

    /// # Safety
    /// The promises of [`GlDisplay::draw_to_texture`].
    pub unsafe fn draw_to_texture(
        shown: &ShownFrame<'_>,
        link: &Link,
        id: u32,
        level: u32,
        (width, height): (u32, u32),
    ) -> Result<()> {
        let extent = Extent::new(width, height);
        let texture = EngineTexture::new(id, extent).with_level(level, extent);
        let (display, options) = (display(link)?, DrawOptions::default());
        // SAFETY: the caller's promise.
        Ok(unsafe { display.draw_to_texture(shown.surface(), texture, texture.viewport(), options) }?)
    }
}

#[cfg(not(feature = "gl"))]
mod gl {
    use crate::abi::{pf_gl_buffer, pf_gl_texture};
    use crate::failure::{Failure, Result};
    use pixelferry::{Link, ShownFrame};

    pub fn texture(_: &ShownFrame<'_>, _: &Link) -> Result<pf_gl_texture> {
        Err(Failure::not_built_in("gl"))
    }

    pub fn buffer(_: &ShownFrame<'_>, _: &Link) -> Result<pf_gl_buffer> {
        Err(Failure::not_built_in("gl"))
    }

    pub fn draw(_: &ShownFrame<'_>, _: &Link, _: (i32, i32), _: (u32, u32)) -> Result<()> {
        Err(Failure::not_built_in("gl"))
    }

    pub unsafe fn draw_to_texture(_: &ShownFrame<'_>, _: &Link, _: u32, _: u32, _: (u32, u32)) -> Result<()> {
        Err(Failure::not_built_in("gl"))
    }
}
