//! Checks of the framebuffer that is bound for drawing: rejected where a draw would write nothing, or wrong numbers.

use crate::api::error_codes::status_name;
use crate::context::OwnContext;
use crate::context::context_state::ContextState;
use crate::draw::tools::Tools;
use glow::HasContext as _;
use interop_core::{Error, Result};

/// Rejects a framebuffer whose first colour buffer cannot be drawn to: OpenGL would draw nothing and report it only in
/// `glGetError`. The context must be current. Returns whether there may be draw buffers after the first. A framebuffer
/// created by this crate has none; the driver is not queried about it, because that makes a threaded driver wait.
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
            // The driver could not determine the status.
            if status == 0 {
                shared.check(CALL)?;
            }
            let name = status_name(status);
            return Err(Error::refused(format!(
                "the framebuffer that is bound for drawing cannot be drawn into ({CALL}: {name}, {status:#x}); bind a \
                 complete one"
            )));
        }
        let buffer = gl.get_parameter_i32(glow::DRAW_BUFFER0) as u32;
        let nothing = |why| {
            Err(Error::refused(format!("the framebuffer that is bound for drawing has no usable colour buffer: {why}")))
        };
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
            return nothing("it holds integers; draws need normalised numbers or floats");
        }
        Ok(true)
    }
}

/// Rejects a framebuffer object that does not encode although it should, or does although it should not and this cannot
/// be switched off. The framebuffer was checked ([`check_target`]).
pub(crate) fn check_encoding(shared: &ContextState, wanted: bool) -> Result<()> {
    if wanted && encodes(shared) == Some(false) {
        let problem = "the framebuffer's format does not encode; draw with TargetEncoding::Srgb or Linear";
        return Err(Error::refused(problem));
    }
    if !wanted && !shared.features.srgb_switch && encodes(shared) == Some(true) {
        let reason = "the framebuffer's format encodes, which cannot be switched off without \
                      GL_EXT_sRGB_write_control; draw with TargetEncoding::SrgbFormat, or into RGBA8";
        return Err(shared.unsupported(reason.into()));
    }
    Ok(())
}

/// Tells whether the first colour buffer of the bound framebuffer object encodes; `None` for a window's own
/// framebuffer.
fn encodes(shared: &ContextState) -> Option<bool> {
    let (gl, target, name) = (&shared.gl, glow::DRAW_FRAMEBUFFER, glow::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING);
    // SAFETY: the context is current; the queries are of GL 3.3 and ES 3.0, and the buffer is there.
    unsafe {
        gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING)?;
        let buffer = gl.get_parameter_i32(glow::DRAW_BUFFER0) as u32;
        Some(gl.get_framebuffer_attachment_parameter_i32(target, buffer, name) as u32 == glow::SRGB)
    }
}
