//! Content of a frame that other threads draw: names and pixels, which every thread may have.

use crate::abi::{pf_gl_buffer, pf_gl_texture, pf_vulkan_frame};
use crate::exports::{shown, vulkan};
use crate::failure::Failure;
use pixelferry::{Display, Error, Extent, Headless, MemoryDisplay, Surface, SurfaceDesc};
use std::rc::Rc;

/// A shown frame by the names of its display, made on the display's thread.
pub enum GivenOut {
    /// Of an OpenGL display.
    GlTexture(pf_gl_texture),
    /// Of an OpenGL display.
    GlBuffer(pf_gl_buffer),
    /// Of a Vulkan display.
    Vulkan(pf_vulkan_frame),
    /// Of plain memory: 8-bit RGBA, top row first.
    Pixels(Extent, Vec<u8>),
    /// No names outside; a link reads it back.
    Nothing,
}

impl GivenOut {
    /// Makes it, on the display's thread.
    pub fn new(headless: &Headless, surface: &Surface) -> Result<Self, Error> {
        let is_image = matches!(surface.desc(), SurfaceDesc::Image(_));
        if let Some(memory) = headless.downcast_ref::<MemoryDisplay>() {
            if !is_image {
                return Ok(Self::Nothing);
            }
            let picture = memory.pixels_rgba8(surface)?;
            return Ok(Self::Pixels(Extent::new(picture.width, picture.height), picture.data));
        }
        let display: Rc<dyn Display> = headless.display();
        if shown::gl::is_there(&display) {
            // Other contexts see what this one did once that is done.
            display.finish()?;
            return if is_image {
                shown::gl::texture(&display, surface).map(Self::GlTexture)
            } else {
                shown::gl::buffer(&display, surface).map(Self::GlBuffer)
            }
            .map_err(of_core);
        }
        if vulkan::engine::is_there(&display) {
            return vulkan::engine::frame(&display, surface).map(Self::Vulkan).map_err(of_core);
        }
        Ok(Self::Nothing)
    }
}

/// The error of the core that a failure carries, or one with its message.
fn of_core(failure: Failure) -> Error {
    match failure {
        Failure::Core(error) => error,
        other => Error::invalid("what gives a frame out", other.to_string()),
    }
}
