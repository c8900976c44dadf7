//! An offscreen target for draws.

use crate::api::gl_format::gl_format;
use crate::context::context_state::ContextState;
use crate::draw::tools::Tools;
use crate::objects::framebuffer::ColorTarget;
use crate::objects::state_guards::Framebuffers;
use glow::HasContext as _;
use interop_core::describe::PlainMutex;
use interop_core::{PixelFormat, Result, SurfaceDesc};
use std::sync::Arc;

type Bindings = (Option<glow::Framebuffer>, Option<glow::Framebuffer>);

/// A framebuffer with one texture. It stays on the thread of its display; each call returns
/// [`interop_core::Error::WrongContext`] where the display's context is not current.
pub struct OffscreenTarget {
    color: ColorTarget,
    format: PixelFormat,
    tools: Arc<Tools>,
    before: PlainMutex<Option<Bindings>>,
}

impl OffscreenTarget {
    pub(crate) fn new(tools: &Arc<Tools>, width: u32, height: u32, format: PixelFormat) -> Result<Self> {
        let shared = tools.shared();
        shared.enter()?;
        SurfaceDesc::image(width, height, format).check(&shared.device.name, &shared.caps)?;
        let color = ColorTarget::new(shared, width, height, gl_format(format))?;
        let target = Self { color, format, tools: Arc::clone(tools), before: PlainMutex::new(None) };
        let _bound = Framebuffers::bind(shared, target.color.framebuffer());
        target.tools.clear([0.0; 4]);
        target.tools.drawing.remember(shared, target.color.framebuffer());
        Ok(target)
    }

    fn shared(&self) -> &Arc<ContextState> {
        self.tools.shared()
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.color.size()
    }

    /// Returns the colour texture.
    pub fn texture(&self) -> glow::Texture {
        self.color.texture()
    }

    /// Binds it for drawing and reading until [`OffscreenTarget::unbind`].
    pub fn bind(&self) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        let gl = &shared.gl;
        // SAFETY: the context is current and the framebuffer is of it.
        unsafe {
            if self.before.get().is_none() {
                let draw = gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING);
                let read = gl.get_parameter_framebuffer(glow::READ_FRAMEBUFFER_BINDING);
                self.before.set(Some((draw, read)));
            }
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.color.framebuffer()));
        }
        Ok(())
    }

    /// Restores the bindings from before [`OffscreenTarget::bind`]; does nothing if that was not called.
    pub fn unbind(&self) -> Result<()> {
        let shared = self.shared();
        shared.enter()?;
        if let Some((draw, read)) = self.before.take() {
            // SAFETY: the context is current; both bindings came from it.
            unsafe {
                shared.gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, draw);
                shared.gl.bind_framebuffer(glow::READ_FRAMEBUFFER, read);
            }
        }
        Ok(())
    }

    /// Returns the pixel format.
    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// Returns every pixel unchanged, in tight rows, top row first. Waits for the draws.
    pub fn read_pixels(&self) -> Result<Vec<u8>> {
        let shared = self.shared();
        shared.enter()?;
        let _bound = Framebuffers::bind(shared, self.color.framebuffer());
        let pixel = self.format.bytes_per_pixel();
        let bytes = self.color.read_bound(pixel)?;
        let row = self.color.size().0 as usize * pixel;
        Ok(bytes.chunks_exact(row).rev().flatten().copied().collect())
    }
}

impl Drop for OffscreenTarget {
    fn drop(&mut self) {
        // Its name may belong to another framebuffer afterwards.
        self.tools.drawing.forget(self.color.framebuffer());
    }
}
