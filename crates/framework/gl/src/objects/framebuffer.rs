//! Framebuffers with one colour texture.

use crate::api::gl_format::GlFormat;
use crate::api::host_state::CLEARS;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::objects::draw_state::ClearState;
use crate::objects::pixel_read;
use crate::objects::state_guards::Framebuffers;
use crate::objects::texture_object::create_texture;
use glow::HasContext as _;
use interop_core::{Extent, Result};
use std::sync::Arc;

/// Runs `f` while a framebuffer with this texture is bound.
fn with_framebuffer(
    shared: &Arc<ContextState>,
    texture: glow::Texture,
    f: impl FnOnce(),
) -> Result<OwnedObject<glow::Framebuffer>> {
    const CALL: &str = "glCheckFramebufferStatus";
    let gl = &shared.gl;
    // SAFETY: the context is current and all names are of it.
    let (framebuffer, status) = unsafe {
        let name = gl.create_framebuffer().map_err(|e| shared.no_name("glGenFramebuffers", &e))?;
        let framebuffer = OwnedObject::new(shared, name);
        let _bound = Framebuffers::bind(shared, name);
        let (target, attachment) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        gl.framebuffer_texture_2d(target, attachment, glow::TEXTURE_2D, Some(texture), 0);
        let status = gl.check_framebuffer_status(target);
        if status == glow::FRAMEBUFFER_COMPLETE {
            f();
        }
        (framebuffer, status)
    };
    if status != glow::FRAMEBUFFER_COMPLETE {
        shared.check(CALL)?;
        return Err(shared.failure(CALL, i64::from(status), "the framebuffer is incomplete", ""));
    }
    Ok(framebuffer)
}

/// Clears a texture without writing from the host.
pub(crate) fn zero_texture(shared: &Arc<ContextState>, texture: glow::Texture) -> Result<()> {
    shared.check_host(CLEARS)?;
    let clear = || {
        let _state = ClearState::set(shared);
        // SAFETY: the context is current; the slice is four channels.
        unsafe { shared.gl.clear_buffer_f32_slice(glow::COLOR, 0, &[0.0; 4]) }
    };
    shared.checked("glClearBufferfv", || with_framebuffer(shared, texture, clear).map(drop))?
}

/// A texture that is drawn into, with its framebuffer.
pub(crate) struct ColorTarget {
    shared: Arc<ContextState>,
    framebuffer: OwnedObject<glow::Framebuffer>,
    texture: OwnedObject<glow::Texture>,
    width: u32,
    height: u32,
    format: GlFormat,
}

impl ColorTarget {
    /// Creates both; the sides were checked against the context's limit. The content is undefined.
    pub(crate) fn new(shared: &Arc<ContextState>, width: u32, height: u32, format: GlFormat) -> Result<Self> {
        let texture = create_texture(shared, width, height, format)?;
        let framebuffer = with_framebuffer(shared, texture.get(), || ())?;
        Ok(Self { shared: Arc::clone(shared), framebuffer, texture, width, height, format })
    }

    pub(crate) fn framebuffer(&self) -> glow::Framebuffer {
        self.framebuffer.get()
    }

    pub(crate) fn texture(&self) -> glow::Texture {
        self.texture.get()
    }

    pub(crate) fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Returns every pixel in tight rows, bottom row first, while the framebuffer is bound for reading.
    pub(crate) fn read_bound(&self, bytes_per_pixel: usize) -> Result<Vec<u8>> {
        let shared = &self.shared;
        let mut bytes = vec![0; self.width as usize * self.height as usize * bytes_per_pixel];
        let all = Extent::new(self.width, self.height).full();
        shared.checked("glReadPixels", || {
            // SAFETY: the context is current, the framebuffer is of the format, and `bytes` is as large as tight rows are.
            unsafe { pixel_read::read(shared, all, self.format.colors, self.format.ty, &mut bytes) }
        })?;
        Ok(bytes)
    }
}
