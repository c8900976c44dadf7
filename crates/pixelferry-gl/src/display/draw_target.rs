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

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests {
    use crate::context::counted::{COUNTERS, calls};
    use crate::{DrawOptions, EngineOptions, GlDisplay, HeadlessOptions, Manner, Viewport};
    use glow::HasContext as _;
    use interop_core::display::Display as _;
    use interop_core::{PixelFormat, SurfaceDesc};
    use pixelferry_testing::{Need, need};
    use std::collections::BTreeMap;
    use std::ffi::CStr;

    #[test]
    fn a_draw_asks_nothing_of_a_framebuffer_that_was_made_here() {
        COUNTERS.set(Some(BTreeMap::new()));
        let Some(own) = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default())) else { return };
        let counters = COUNTERS.take();
        let load = |name: &CStr| {
            counters
                .as_ref()
                .and_then(|all| all.get(name.to_str().ok()?))
                .map_or(std::ptr::null(), |(_, function)| *function)
        };
        // SAFETY: the context is current, the functions are its own, and it outlives the display.
        let engine = unsafe { GlDisplay::from_loader(load, EngineOptions::default()) }.unwrap();
        COUNTERS.set(counters.clone());
        let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
        let options = DrawOptions::default().with_manner(Manner::Triangle);
        let mut found = Vec::new();
        for (whose, display) in [("own", &own), ("an engine's", &engine)] {
            let surface = display.create_surface(&desc).unwrap();
            let target = display.create_offscreen_target(8, 8).unwrap();
            let draw = || display.draw(&surface, Viewport::full(8, 8), options).unwrap();
            target.bind().unwrap();
            draw();
            let ours = calls(draw);
            // The same texture behind a framebuffer of the program's own.
            let gl = display.gl();
            // SAFETY: the context is current, and the names are of it.
            unsafe {
                let framebuffer = gl.create_framebuffer().unwrap();
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
                gl.framebuffer_texture_2d(
                    glow::FRAMEBUFFER,
                    glow::COLOR_ATTACHMENT0,
                    glow::TEXTURE_2D,
                    Some(target.texture()),
                    0,
                );
            }
            draw();
            let theirs = calls(draw);
            target.unbind().unwrap();
            let sum = |calls: &BTreeMap<String, u64>| calls.values().sum::<u64>();
            println!(
                "{whose} context, version {:?}: {} calls, {} into the program's framebuffer",
                display.version(),
                sum(&ours),
                sum(&theirs)
            );
            println!("  {ours:?}\n  {theirs:?}");
            found.push((ours, theirs));
        }
        COUNTERS.set(None);
        let count = |calls: &BTreeMap<String, u64>, name: &str| calls.get(name).copied().unwrap_or(0);
        for (ours, theirs) in &found {
            for (name, least) in [("glCheckFramebufferStatus", 1), ("glGetFramebufferAttachmentParameteriv", 2)] {
                assert_eq!((count(ours, name), count(theirs, name) >= least), (0, true), "{name}");
            }
        }
        // A query makes a threaded driver wait; glGetError is that of a debug build.
        let is_query = |name: &str| ["glGet", "glIs", "glCheck"].iter().any(|kind| name.starts_with(kind));
        let asked: Vec<_> = found[0].0.iter().filter(|(name, _)| is_query(name) && *name != "glGetError").collect();
        assert_eq!(asked, [(&"glGetIntegerv".to_owned(), &1)], "an own context is asked for more than what is bound");
    }
}
