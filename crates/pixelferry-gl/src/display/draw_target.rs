//! The framebuffer that is bound for drawing: refused where nothing would be drawn, or other numbers.

use crate::api::error_codes::status_name;
use crate::context::OwnContext;
use crate::context::context_state::ContextState;
use crate::draw::tools::Tools;
use glow::HasContext as _;
use interop_core::{Error, Result};

/// Refuses a framebuffer whose first colour buffer takes no colours: OpenGL would draw nothing and say so only in `glGetError`. The
/// context must be current. Tells whether there may be draw buffers beside the first: there are none in one that was made here, about
/// which the driver is not asked, as that makes a threaded one wait.
pub(crate) fn check_target(tools: &Tools) -> Result<bool> {
    const CALL: &str = "glCheckFramebufferStatus";
    let shared = tools.shared();
    let (gl, target) = (&shared.gl, glow::DRAW_FRAMEBUFFER);
    // SAFETY: the context is current.
    let bound = unsafe { gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING) };
    let is_made_here = match bound {
        Some(framebuffer) => tools.drawing.knows(framebuffer),
        None => shared.own().is_some_and(OwnContext::has_window),
    };
    if is_made_here {
        return Ok(false);
    }
    // SAFETY: the context is current; the queries are of GL 3.3 and ES 3.0, and an attachment is asked for what it is only where
    // there is one.
    unsafe {
        let status = gl.check_framebuffer_status(target);
        if status != glow::FRAMEBUFFER_COMPLETE {
            // A driver that could not tell.
            if status == 0 {
                shared.check(CALL)?;
            }
            let name = status_name(status);
            return Err(Error::refused(format!(
                "the framebuffer that is bound for drawing cannot be drawn into ({CALL}: {name}, {status:#x}); bind a complete one"
            )));
        }
        let buffer = gl.get_parameter_i32(glow::DRAW_BUFFER0) as u32;
        let nothing =
            |why| Err(Error::refused(format!("the framebuffer that is bound for drawing takes no colours: {why}")));
        if buffer == glow::NONE {
            return nothing("its first draw buffer is GL_NONE; call glDrawBuffers");
        }
        if bound.is_none() {
            return Ok(true);
        }
        let get = |name| gl.get_framebuffer_attachment_parameter_i32(target, buffer, name) as u32;
        if get(glow::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) == glow::NONE {
            return nothing("nothing is attached to its first draw buffer");
        }
        if [glow::INT, glow::UNSIGNED_INT].contains(&get(glow::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE)) {
            return nothing("it holds integers; colours are drawn into normalised numbers or floats");
        }
        Ok(true)
    }
}

/// Refuses a framebuffer object that does not encode where it is to, or does where nothing can switch that off. The framebuffer was
/// checked ([`check_target`]).
pub(crate) fn check_encoding(shared: &ContextState, wanted: bool) -> Result<()> {
    if wanted && encodes(shared) == Some(false) {
        let problem = "the framebuffer's format does not encode; draw with TargetEncoding::Srgb or Linear";
        return Err(Error::refused(problem));
    }
    if !wanted && !shared.features.srgb_switch && encodes(shared) == Some(true) {
        let reason = "the framebuffer's format encodes, which nothing switches off without GL_EXT_sRGB_write_control; draw \
                      with TargetEncoding::SrgbFormat, or into RGBA8";
        return Err(shared.unsupported(reason.into()));
    }
    Ok(())
}

/// Tells whether the first colour buffer of the bound framebuffer object encodes; `None` for a window's own.
fn encodes(shared: &ContextState) -> Option<bool> {
    let (gl, target, name) = (&shared.gl, glow::DRAW_FRAMEBUFFER, glow::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING);
    // SAFETY: the context is current; the queries are of GL 3.3 and ES 3.0, and the buffer is there.
    unsafe {
        gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING)?;
        let buffer = gl.get_parameter_i32(glow::DRAW_BUFFER0) as u32;
        Some(gl.get_framebuffer_attachment_parameter_i32(target, buffer, name) as u32 == glow::SRGB)
    }
}
