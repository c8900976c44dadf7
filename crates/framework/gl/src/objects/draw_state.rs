//! The state that draws of an image need: program, vertex array, one texture unit, viewport, and fragment tests off.

use crate::api::host_state::{CLEARS, DRAWS};
use crate::context::context_state::ContextState;
use crate::objects::neutral_state::NeutralState;
use crate::objects::state_guards::{ReadProgram, Sampler};
use crate::objects::switches::{Blending, set_switch, set_viewport};
use glow::HasContext as _;
use interop_core::Viewport;

/// Texture and sampler that a draw reads.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub target: u32,
    pub texture: glow::Texture,
    pub sampler: glow::Sampler,
}

/// Blending and encoding of a draw's output.
#[derive(Clone, Copy)]
pub(crate) struct OutputState {
    /// The output is blended over the content, multiplied by alpha.
    pub blends: bool,
    /// The format encodes the output.
    pub encodes: bool,
}

impl OutputState {
    /// Sets the switches that this needs. Without a switch for encoding, formats that can encode always do.
    fn switch(self, shared: &ContextState, on: bool) {
        let encodes = self.encodes && shared.features.srgb_switch;
        let needed = [(self.blends, glow::BLEND), (encodes, glow::FRAMEBUFFER_SRGB)];
        needed.iter().filter(|(needed, _)| *needed).for_each(|(_, switch)| set_switch(shared, *switch, on));
    }
}

struct SavedDrawState {
    viewport: [f32; 4],
    vertex_array: Option<glow::VertexArray>,
    /// Blending state, if the draw blends.
    blending: Option<Blending>,
}

/// Sets the state while it lives. In a context of this crate it stays set afterwards, except for program, vertex array,
/// texture and sampler, which are unbound.
pub(crate) struct DrawState<'a> {
    shared: &'a ContextState,
    saved: Option<SavedDrawState>,
    written: OutputState,
    buffers: Option<OtherBuffers>,
    _sampler: Sampler<'a>,
    // Restored after everything else.
    _reading: ReadProgram<'a>,
}

impl<'a> DrawState<'a> {
    /// Sets everything except uniforms and the program's own state. `keep` saves and restores in any context; with
    /// `has_others`, draw buffers after the first are switched off.
    pub(crate) fn set(
        shared: &'a ContextState,
        (keep, has_others): (bool, bool),
        viewport: Viewport,
        program: glow::Program,
        vertex_array: glow::VertexArray,
        source: Source,
        written: OutputState,
    ) -> Self {
        let gl = &shared.gl;
        let reading = ReadProgram::set(shared, (keep, DRAWS), program, source.target, source.texture);
        let sampler = Sampler::bind(shared, keep, source.sampler);
        let saved = (keep || shared.is_engine()).then(|| save(shared, written));
        let buffers = has_others.then(|| OtherBuffers::off(shared)).flatten();
        written.switch(shared, true);
        if written.blends {
            Blending::OVER.set(shared);
        }
        set_viewport(shared, [viewport.x as f32, viewport.y as f32, viewport.width as f32, viewport.height as f32]);
        // SAFETY: the context is current and the names are of it.
        unsafe { gl.bind_vertex_array(Some(vertex_array)) }
        Self { shared, saved, written, buffers, _sampler: sampler, _reading: reading }
    }
}

/// Reads all state that [`DrawState`] itself changes.
fn save(shared: &ContextState, written: OutputState) -> SavedDrawState {
    let gl = &shared.gl;
    // SAFETY: the context is current; names are of GL 3.3 and ES 3.0. VIEWPORT is four.
    unsafe {
        let mut viewport = [0.0; 4];
        gl.get_parameter_f32_slice(glow::VIEWPORT, &mut viewport);
        SavedDrawState {
            viewport,
            vertex_array: gl.get_parameter_vertex_array(glow::VERTEX_ARRAY_BINDING),
            blending: written.blends.then(|| Blending::read(shared)),
        }
    }
}

impl Drop for DrawState<'_> {
    fn drop(&mut self) {
        let gl = &self.shared.gl;
        self.buffers.iter().for_each(|buffers| buffers.restore(self.shared));
        self.written.switch(self.shared, false);
        // SAFETY: the context is still current; the values came from it.
        unsafe {
            let Some(saved) = &self.saved else { return gl.bind_vertex_array(None) };
            gl.bind_vertex_array(saved.vertex_array);
        }
        if let Some(saved) = &self.saved {
            set_viewport(self.shared, saved.viewport);
            saved.blending.into_iter().for_each(|blending| blending.set(self.shared));
        }
    }
}

/// Saved draw buffers after the first, which a program with one output would leave undefined.
struct OtherBuffers(Vec<u32>);

impl OtherBuffers {
    /// Switches them off. The context must be current.
    fn off(shared: &ContextState) -> Option<Self> {
        let gl = &shared.gl;
        // SAFETY: the context is current and has so many; the first stays what it is.
        unsafe {
            let get = |index| gl.get_parameter_i32(glow::DRAW_BUFFER0 + index) as u32;
            if (1..shared.features.draw_buffers).all(|index| get(index) == glow::NONE) {
                return None;
            }
            let all: Vec<u32> = (0..shared.features.draw_buffers).map(get).collect();
            gl.draw_buffers(&all[..1]);
            Some(Self(all))
        }
    }

    /// Restores them. The context must be current, and the same framebuffer be bound.
    fn restore(&self, shared: &ContextState) {
        // SAFETY: the context is current, and the buffers are those that the framebuffer had.
        unsafe { shared.gl.draw_buffers(&self.0) }
    }
}

/// Switches off state that could keep a clear or a blit from writing every pixel exactly; restored in any context.
pub(crate) struct ClearState<'a>(#[expect(dead_code, reason = "dropped")] NeutralState<'a>);

impl<'a> ClearState<'a> {
    pub(crate) fn set(shared: &'a ContextState) -> Self {
        Self(NeutralState::set(shared, CLEARS, true))
    }
}
