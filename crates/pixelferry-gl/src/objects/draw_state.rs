//! The state that drawing an image needs: program, vertex array, one texture unit, viewport, and fragment tests off.

use crate::context::context_state::ContextState;
use crate::objects::state::{Reading, Sampler};
use crate::objects::switches::{Blending, Of, Switched, set_switch, set_viewport};
use glow::HasContext as _;

/// A rectangle of a framebuffer in pixels; `y` counts from the bottom, as OpenGL does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewport {
    /// Left edge.
    pub x: i32,
    /// Bottom edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Viewport {
    /// The whole of a framebuffer of this size.
    pub const fn full(width: u32, height: u32) -> Self {
        Self { x: 0, y: 0, width, height }
    }
}

/// Texture and sampler that a draw reads.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub target: u32,
    pub texture: glow::Texture,
    pub sampler: glow::Sampler,
}

/// Blending and encoding of a draw's output.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    /// Over what is there, multiplied by alpha.
    pub blends: bool,
    /// Encoded by the format.
    pub encodes: bool,
}

impl Written {
    /// Sets those of the disabled switches that this needs. Without a switch for encoding, formats that can encode do
    /// so.
    fn switch(self, shared: &ContextState, on: bool) {
        let encodes = self.encodes && shared.features.srgb_switch;
        let needed = [(self.blends, glow::BLEND), (encodes, glow::FRAMEBUFFER_SRGB)];
        needed.iter().filter(|(needed, _)| *needed).for_each(|(_, switch)| set_switch(shared, *switch, on));
    }
}

struct Saved {
    switched: Switched,
    /// Polygon mode, which only desktop OpenGL has.
    polygon_mode: Option<u32>,
    viewport: [f32; 4],
    vertex_array: Option<glow::VertexArray>,
    /// Blending state, if the draw blends.
    blending: Option<Blending>,
}

/// Set while it lives. In a context of our own it stays set afterwards, but for program, vertex array, texture and
/// sampler, which are unbound.
pub(crate) struct DrawState<'a> {
    shared: &'a ContextState,
    saved: Option<Saved>,
    written: Written,
    _sampler: Sampler<'a>,
    // Put back after all else.
    _reading: Reading<'a>,
}

impl<'a> DrawState<'a> {
    /// Sets everything but uniforms and the program's own state. `keep` saves and restores in any context.
    pub(crate) fn set(
        shared: &'a ContextState,
        keep: bool,
        viewport: Viewport,
        program: glow::Program,
        vertex_array: glow::VertexArray,
        source: Source,
        written: Written,
    ) -> Self {
        let gl = &shared.gl;
        let reading = Reading::set(shared, keep, program, source.target, source.texture);
        let sampler = Sampler::bind(shared, keep, source.sampler);
        let saved = (keep || shared.is_engine()).then(|| save(shared, written));
        Of::Draws.off(shared);
        written.switch(shared, true);
        if written.blends {
            Blending::OVER.set(shared);
        }
        set_viewport(shared, [viewport.x as f32, viewport.y as f32, viewport.width as f32, viewport.height as f32]);
        // SAFETY: the context is current and the names are of it.
        unsafe {
            if !shared.features.es {
                gl.polygon_mode(glow::FRONT_AND_BACK, glow::FILL);
            }
            gl.bind_vertex_array(Some(vertex_array));
        }
        Self { shared, saved, written, _sampler: sampler, _reading: reading }
    }
}

/// Reads all that [`DrawState`] itself changes.
fn save(shared: &ContextState, written: Written) -> Saved {
    let gl = &shared.gl;
    // SAFETY: the context is current; names are of GL 3.3 and ES 3.0, but for the gated one, which may be two integers. VIEWPORT is four.
    unsafe {
        let polygon_mode = (!shared.features.es).then(|| {
            let mut mode = [0; 2];
            gl.get_parameter_i32_slice(glow::POLYGON_MODE, &mut mode);
            mode[0] as u32
        });
        let mut viewport = [0.0; 4];
        gl.get_parameter_f32_slice(glow::VIEWPORT, &mut viewport);
        Saved {
            switched: Of::Draws.read(shared),
            polygon_mode,
            viewport,
            vertex_array: gl.get_parameter_vertex_array(glow::VERTEX_ARRAY_BINDING),
            blending: written.blends.then(|| Blending::read(shared)),
        }
    }
}

impl Drop for DrawState<'_> {
    fn drop(&mut self) {
        let gl = &self.shared.gl;
        // SAFETY: the context is still current; the values came from it.
        unsafe {
            let Some(saved) = &self.saved else {
                gl.bind_vertex_array(None);
                self.written.switch(self.shared, false);
                return;
            };
            gl.bind_vertex_array(saved.vertex_array);
            if let Some(mode) = saved.polygon_mode {
                gl.polygon_mode(glow::FRONT_AND_BACK, mode);
            }
            set_viewport(self.shared, saved.viewport);
            if let Some(blending) = saved.blending {
                blending.set(self.shared);
            }
            saved.switched.set(self.shared);
        }
    }
}

/// State that could keep a clear from reaching every pixel with its exact value; restored in any context.
pub(crate) struct ClearState<'a> {
    shared: &'a ContextState,
    before: Switched,
}

impl<'a> ClearState<'a> {
    pub(crate) fn set(shared: &'a ContextState) -> Self {
        let before = Of::Clears.read(shared);
        Of::Clears.off(shared);
        Self { shared, before }
    }
}

impl Drop for ClearState<'_> {
    fn drop(&mut self) {
        self.before.set(self.shared);
    }
}
