//! The OpenGL context of the program, which may destroy it at any time.

use crate::failure::Failure;
use crate::object::Object;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::gl::{EngineOptions, EngineTexture, GlDisplay};
use pixelferry::{DrawOptions, Error, Extent, Surface, SurfaceDesc};
use std::cell::Cell;
use std::sync::Arc;

/// A context of the program, on the thread where it is current.
pub struct UserContext {
    display: Arc<GlDisplay>,
    /// Identifies the context: a new context at the address of a destroyed one does not have this shader.
    mark: glow::Shader,
    lost: Cell<bool>,
}

impl UserContext {
    /// Returns the context that is current on this thread.
    pub fn current() -> Result<Self, Failure> {
        // SAFETY: the context is current. The program may destroy it early although the package's page forbids that;
        // `is_here` detects it before any call.
        let display = unsafe { GlDisplay::from_current(EngineOptions::default()) }.map_err(|error| match error {
            Error::Unavailable { .. } => Failure::Context(error.to_string()),
            other => other.into(),
        })?;
        // SAFETY: the context is current, and has shaders as all from OpenGL 3.3 on.
        let mark = unsafe { display.gl().create_shader(glow::FRAGMENT_SHADER) };
        let mark = mark.map_err(|why| Failure::Device(format!("the OpenGL context cannot make objects: {why}")))?;
        Ok(Self { display, mark, lost: Cell::new(false) })
    }

    /// Returns what works in it.
    pub fn display(&self) -> &Arc<GlDisplay> {
        &self.display
    }

    /// Returns whether it is current on this thread. A context that turns out to be destroyed is given up.
    pub fn is_here(&self) -> bool {
        if self.is_lost() || !self.display.is_current() {
            return false;
        }
        // SAFETY: the functions belong to the current context, and any name may be passed.
        if unsafe { self.display.gl().is_shader(self.mark) } {
            return true;
        }
        // SAFETY: another context has its address, so it was destroyed. Frames finish before a call returns, so its
        // memory is not in use.
        unsafe { self.display.context_lost() };
        self.lost.set(true);
        false
    }

    /// Returns whether it turned out to be destroyed.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Opens a texture or buffer of the program as a surface; the context must be current.
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

    /// Checks that it is current on this thread.
    pub fn check(&self) -> Result<(), Failure> {
        if self.is_here() {
            return Ok(());
        }
        Err(Failure::Context(
            if self.is_lost() {
                "its OpenGL context was destroyed; make a new object in the new context"
            } else {
                "another OpenGL context, or none, is current on this thread; make its own context current"
            }
            .into(),
        ))
    }
}

/// Copies the shown picture, which has this size, to a texture of ours.
pub fn copy_shown(gl: &GlDisplay, shown: &Surface, texture: u32, extent: Extent) -> Result<(), Failure> {
    let target = EngineTexture::new(texture, extent);
    // SAFETY: the texture belongs to a surface that the display made for this purpose, so nothing else changes it, and
    // CUDA released it after each read.
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
