//! The OpenGL context of the program, which may destroy it at any time.

use crate::failure::Failure;
use crate::object::Object;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::gl::{EngineOptions, EngineTexture, GlDisplay};
use pixelferry::{DrawOptions, Error, Extent, Surface, SurfaceDesc};
use std::cell::Cell;
use std::rc::Rc;

/// A context of the program's, on the thread where it is current.
pub struct UserContext {
    display: Rc<GlDisplay>,
    /// A context that has the address of a destroyed one does not have this.
    mark: glow::Shader,
    lost: Cell<bool>,
}

impl UserContext {
    /// The one that is current on this thread.
    pub fn current() -> Result<Self, Failure> {
        // SAFETY: the context is current. It may be destroyed early, which the package's page tells programs not to do; `is_here`
        // notices it before anything is called there.
        let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }.map_err(|error| match error {
            Error::Unavailable { .. } => Failure::Context(error.to_string()),
            other => other.into(),
        })?;
        // SAFETY: the context is current, and has shaders as all from OpenGL 3.3 on.
        let mark = unsafe { display.gl().create_shader(glow::FRAGMENT_SHADER) };
        let mark = mark.map_err(|why| Failure::Device(format!("the OpenGL context makes no objects: {why}")))?;
        Ok(Self { display, mark, lost: Cell::new(false) })
    }

    /// Returns what works in it.
    pub fn display(&self) -> &Rc<GlDisplay> {
        &self.display
    }

    /// True where it is current on this thread. One that turns out to be destroyed is given up.
    pub fn is_here(&self) -> bool {
        if self.is_lost() || !self.display.is_current() {
            return false;
        }
        // SAFETY: a context is current whose functions these are, and any name may be asked for.
        if unsafe { self.display.gl().is_shader(self.mark) } {
            return true;
        }
        // SAFETY: another context has its address, so it is gone; frames are finished before a call returns, so that nothing of
        // its memory is in use.
        unsafe { self.display.context_lost() };
        self.lost.set(true);
        false
    }

    /// True where it turned out to be destroyed.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// A texture or buffer of the program's as a surface; the context must be current.
    pub fn opened(&self, object: &Object) -> Result<Surface, Failure> {
        let Object { name, desc } = *object;
        // SAFETY: the program named it as its own. The stubs ask it to close what reads or writes it before the object goes; each
        // use looks whether it is still there with this size and format.
        let surface = unsafe {
            match desc {
                SurfaceDesc::Image(image) => {
                    self.display.engine_image(EngineTexture::new(name, image.extent), image.format)
                }
                _ => self.display.engine_buffer(name, desc.byte_len()? as u64),
            }
        };
        Ok(surface?)
    }

    /// That it is current on this thread.
    pub fn check(&self) -> Result<(), Failure> {
        if self.is_here() {
            return Ok(());
        }
        Err(Failure::Context(
            if self.is_lost() {
                "its OpenGL context was destroyed; make a new object in the new context"
            } else {
                "another OpenGL context than its own is current on this thread, or none; make its own current"
            }
            .into(),
        ))
    }
}

/// Copies what is shown, a picture of that size, to a texture of ours.
pub fn copy_shown(gl: &GlDisplay, shown: &Surface, texture: u32, extent: Extent) -> Result<(), Failure> {
    let target = EngineTexture::new(texture, extent);
    // SAFETY: the texture is of a surface that the display made for this, so nobody else changes it, and CUDA gave it back after
    // each read.
    Ok(unsafe { gl.draw_to_texture(shown, target, target.viewport(), DrawOptions::default()) }?)
}

impl Drop for UserContext {
    fn drop(&mut self) {
        if self.is_here() {
            // SAFETY: the context is current, and the shader was made in it.
            unsafe { self.display.gl().delete_shader(self.mark) };
        }
    }
}
