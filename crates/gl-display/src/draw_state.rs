//! The state that drawing an image needs: program, vertex array, one texture unit, viewport, and fragment tests off.

use crate::context_state::ContextState;
use crate::state::{Reading, Sampler};
use glow::HasContext as _;

/// Everything that could change or drop a fragment; off while we draw. For states that exist once per draw buffer
/// or viewport only the first is touched.
const SWITCHES: [u32; 21] = [
    glow::BLEND,
    glow::SCISSOR_TEST,
    glow::DEPTH_TEST,
    glow::STENCIL_TEST,
    glow::CULL_FACE,
    glow::DITHER,
    glow::COLOR_LOGIC_OP,
    glow::RASTERIZER_DISCARD,
    // OpenGL 4.6 core, section 10.3.6: of arrays, too. Its index is 0 at first, our first vertex: NVIDIA draws nothing.
    glow::PRIMITIVE_RESTART,
    glow::FRAMEBUFFER_SRGB,
    glow::SAMPLE_ALPHA_TO_COVERAGE,
    glow::SAMPLE_COVERAGE,
    glow::SAMPLE_MASK,
    glow::CLIP_DISTANCE0,
    glow::CLIP_DISTANCE0 + 1,
    glow::CLIP_DISTANCE0 + 2,
    glow::CLIP_DISTANCE0 + 3,
    glow::CLIP_DISTANCE0 + 4,
    glow::CLIP_DISTANCE0 + 5,
    glow::CLIP_DISTANCE0 + 6,
    glow::CLIP_DISTANCE0 + 7,
];

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

/// What a draw reads.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub target: u32,
    pub texture: glow::Texture,
    pub sampler: glow::Sampler,
}

/// How a draw's pixels are written.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    /// Over what is there, multiplied by alpha.
    pub blends: bool,
    /// Encoded by the format.
    pub encodes: bool,
}

/// Of draw buffer 0: how colour and alpha are blended.
#[derive(Clone, Copy)]
struct Blending {
    functions: [u32; 4],
    equations: [u32; 2],
}

impl Written {
    /// Of the switches that are off, those that this needs.
    fn switch(self, shared: &ContextState, on: bool) {
        let needed = [(self.blends, glow::BLEND), (self.encodes, glow::FRAMEBUFFER_SRGB)];
        needed.iter().filter(|(needed, _)| *needed).for_each(|(_, switch)| set_switch(shared, *switch, on));
    }
}

impl Blending {
    const QUERIES: [u32; 4] = [glow::BLEND_SRC_RGB, glow::BLEND_DST_RGB, glow::BLEND_SRC_ALPHA, glow::BLEND_DST_ALPHA];

    /// Of colours that are multiplied by alpha.
    const OVER: Self = Self {
        functions: [glow::ONE, glow::ONE_MINUS_SRC_ALPHA, glow::ONE, glow::ONE_MINUS_SRC_ALPHA],
        equations: [glow::FUNC_ADD; 2],
    };

    fn read(shared: &ContextState) -> Self {
        // SAFETY: the context is current; names are of GL 3.3 and each a single integer, of draw buffer 0 where there
        // are several.
        let get = |name| unsafe { shared.gl.get_parameter_i32(name) as u32 };
        Self {
            functions: Self::QUERIES.map(get),
            equations: [glow::BLEND_EQUATION_RGB, glow::BLEND_EQUATION_ALPHA].map(get),
        }
    }

    fn set(self, shared: &ContextState) {
        let (gl, [src, dst, src_alpha, dst_alpha], [rgb, alpha]) = (&shared.gl, self.functions, self.equations);
        // SAFETY: the context is current; the indexed forms are gated.
        unsafe {
            if shared.features.indexed_blending {
                gl.blend_func_separate_draw_buffer(0, src, dst, src_alpha, dst_alpha);
                gl.blend_equation_separate_draw_buffer(0, rgb, alpha);
            } else {
                gl.blend_func_separate(src, dst, src_alpha, dst_alpha);
                gl.blend_equation_separate(rgb, alpha);
            }
        }
    }
}

struct Saved {
    switches: [bool; SWITCHES.len()],
    color_mask: [bool; 4],
    polygon_mode: u32,
    viewport: [f32; 4],
    vertex_array: Option<glow::VertexArray>,
    /// Where the draw blends.
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

/// True where `switch` exists once for each draw buffer or viewport in this context.
fn is_indexed(shared: &ContextState, switch: u32) -> bool {
    switch == glow::BLEND || (switch == glow::SCISSOR_TEST && shared.features.indexed_viewports)
}

fn set_switch(shared: &ContextState, switch: u32, on: bool) {
    let gl = &shared.gl;
    // SAFETY: the context is current; every switch is of GL 3.3, indexed ones are gated.
    unsafe {
        match (is_indexed(shared, switch), on) {
            (true, true) => gl.enable_draw_buffer(switch, 0),
            (true, false) => gl.disable_draw_buffer(switch, 0),
            (false, true) => gl.enable(switch),
            (false, false) => gl.disable(switch),
        }
    }
}

fn set_viewport(shared: &ContextState, v: [f32; 4]) {
    // Mesa writes the clamped values back into what it is given: a copy of its own, in writable memory.
    let values = std::hint::black_box([v]);
    // SAFETY: the context is current; the array form is gated.
    unsafe {
        if shared.features.indexed_viewports {
            shared.gl.viewport_f32_slice(0, 1, &values);
        } else {
            shared.gl.viewport(v[0] as i32, v[1] as i32, v[2] as i32, v[3] as i32);
        }
    }
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
        SWITCHES.iter().for_each(|s| set_switch(shared, *s, false));
        written.switch(shared, true);
        if written.blends {
            Blending::OVER.set(shared);
        }
        set_viewport(shared, [viewport.x as f32, viewport.y as f32, viewport.width as f32, viewport.height as f32]);
        // SAFETY: the context is current and the names are of it.
        unsafe {
            gl.color_mask_draw_buffer(0, true, true, true, true);
            gl.polygon_mode(glow::FRONT_AND_BACK, glow::FILL);
            gl.bind_vertex_array(Some(vertex_array));
        }
        Self { shared, saved, written, _sampler: sampler, _reading: reading }
    }
}

/// Reads all that [`DrawState`] itself changes.
fn save(shared: &ContextState, written: Written) -> Saved {
    let gl = &shared.gl;
    // SAFETY: the context is current; names are of GL 3.3. POLYGON_MODE may be two integers and VIEWPORT is four.
    unsafe {
        let mut polygon_mode = [0; 2];
        gl.get_parameter_i32_slice(glow::POLYGON_MODE, &mut polygon_mode);
        let mut viewport = [0.0; 4];
        gl.get_parameter_f32_slice(glow::VIEWPORT, &mut viewport);
        Saved {
            switches: SWITCHES.map(|s| gl.is_enabled(s)),
            color_mask: gl.get_parameter_bool_array(glow::COLOR_WRITEMASK),
            polygon_mode: polygon_mode[0] as u32,
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
            gl.polygon_mode(glow::FRONT_AND_BACK, saved.polygon_mode);
            let [r, g, b, a] = saved.color_mask;
            gl.color_mask_draw_buffer(0, r, g, b, a);
            set_viewport(self.shared, saved.viewport);
            if let Some(blending) = saved.blending {
                blending.set(self.shared);
            }
            SWITCHES.iter().zip(saved.switches).for_each(|(s, on)| set_switch(self.shared, *s, on));
        }
    }
}

/// What could keep a clear from reaching every pixel as it was given; put back in any context.
pub(crate) struct ClearState<'a> {
    shared: &'a ContextState,
    switches: [bool; CLEAR_SWITCHES.len()],
    color_mask: [bool; 4],
}

const CLEAR_SWITCHES: [u32; 4] = [glow::SCISSOR_TEST, glow::DITHER, glow::RASTERIZER_DISCARD, glow::FRAMEBUFFER_SRGB];

impl<'a> ClearState<'a> {
    pub(crate) fn set(shared: &'a ContextState) -> Self {
        let gl = &shared.gl;
        // SAFETY: the context is current; names are of GL 3.3.
        unsafe {
            let switches = CLEAR_SWITCHES.map(|s| gl.is_enabled(s));
            let color_mask = gl.get_parameter_bool_array(glow::COLOR_WRITEMASK);
            CLEAR_SWITCHES.iter().for_each(|s| set_switch(shared, *s, false));
            gl.color_mask_draw_buffer(0, true, true, true, true);
            Self { shared, switches, color_mask }
        }
    }
}

impl Drop for ClearState<'_> {
    fn drop(&mut self) {
        let [r, g, b, a] = self.color_mask;
        CLEAR_SWITCHES.iter().zip(self.switches).for_each(|(s, on)| set_switch(self.shared, *s, on));
        // SAFETY: the context is still current; the values came from it.
        unsafe { self.shared.gl.color_mask_draw_buffer(0, r, g, b, a) }
    }
}
