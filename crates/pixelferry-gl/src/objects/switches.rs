//! Switches, masks, viewports and blending of a context, of which some exist once for each draw buffer or viewport: then only
//! the first is touched.

use crate::api::features::Features;
use crate::api::suffixed::Switch;
use crate::context::context_state::ContextState;
use glow::HasContext as _;

/// Contexts that know a switch.
#[derive(Clone, Copy)]
enum In {
    All,
    Desktop,
    SampleMasks,
    SrgbSwitches,
    ClipDistances,
}

/// Everything that could change or drop a fragment; off while we draw.
const FRAGMENTS: [(u32, In); 21] = [
    (glow::BLEND, In::All),
    (glow::SCISSOR_TEST, In::All),
    (glow::DEPTH_TEST, In::All),
    (glow::STENCIL_TEST, In::All),
    (glow::CULL_FACE, In::All),
    (glow::DITHER, In::All),
    (glow::COLOR_LOGIC_OP, In::Desktop),
    (glow::RASTERIZER_DISCARD, In::All),
    // OpenGL 4.6 core, section 10.3.6: of arrays, too. Its index is 0 at first, our first vertex: NVIDIA draws nothing.
    (glow::PRIMITIVE_RESTART, In::Desktop),
    (glow::FRAMEBUFFER_SRGB, In::SrgbSwitches),
    (glow::SAMPLE_ALPHA_TO_COVERAGE, In::All),
    (glow::SAMPLE_COVERAGE, In::All),
    (glow::SAMPLE_MASK, In::SampleMasks),
    (glow::CLIP_DISTANCE0, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 1, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 2, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 3, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 4, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 5, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 6, In::ClipDistances),
    (glow::CLIP_DISTANCE0 + 7, In::ClipDistances),
];

/// Switches that could keep a clear from reaching every pixel with its exact value.
const CLEARS: [(u32, In); 4] = [
    (glow::SCISSOR_TEST, In::All),
    (glow::DITHER, In::All),
    (glow::RASTERIZER_DISCARD, In::All),
    (glow::FRAMEBUFFER_SRGB, In::SrgbSwitches),
];

impl In {
    const fn has(self, features: &Features) -> bool {
        match self {
            Self::All => true,
            Self::Desktop => !features.es,
            Self::SampleMasks => features.sample_mask,
            Self::SrgbSwitches => features.srgb_switch,
            Self::ClipDistances => features.clip_distances,
        }
    }
}

/// The set of switches: those of draws or those of clears.
#[derive(Clone, Copy)]
pub(crate) enum Of {
    Draws,
    Clears,
}

impl Of {
    const fn switches(self) -> &'static [(u32, In)] {
        match self {
            Self::Draws => &FRAGMENTS,
            Self::Clears => &CLEARS,
        }
    }

    fn known(self, shared: &ContextState) -> impl Iterator<Item = u32> {
        self.switches().iter().filter(|(_, known)| known.has(&shared.features)).map(|(switch, _)| *switch)
    }

    /// Switches all of them off, and lets draws write every channel. The context must be current.
    pub(crate) fn off(self, shared: &ContextState) {
        self.known(shared).for_each(|switch| set_switch(shared, switch, false));
        set_color_mask(shared, [true; 4]);
    }

    /// Reads them. The context must be current.
    pub(crate) fn read(self, shared: &ContextState) -> Switched {
        // SAFETY: the context is current and knows the switches; the mask is four values.
        unsafe {
            let mut on = [false; FRAGMENTS.len()];
            on.iter_mut().zip(self.known(shared)).for_each(|(on, switch)| *on = shared.gl.is_enabled(switch));
            let color_mask = shared.gl.get_parameter_bool_array(glow::COLOR_WRITEMASK);
            Switched { of: self, on, color_mask }
        }
    }
}

/// Switches as they were, and the colour mask of draw buffer 0.
pub(crate) struct Switched {
    of: Of,
    /// State of the switches that the context knows, in the order of the table.
    on: [bool; FRAGMENTS.len()],
    color_mask: [bool; 4],
}

impl Switched {
    /// Puts them back. The context must be current.
    pub(crate) fn set(&self, shared: &ContextState) {
        set_color_mask(shared, self.color_mask);
        self.of.known(shared).zip(self.on).for_each(|(switch, on)| set_switch(shared, switch, on));
    }
}

/// Reach of a switch that exists once for each draw buffer or viewport.
enum Reach {
    /// It exists once.
    All,
    /// The first, by functions that the version has.
    First,
    /// The first, by functions of an extension, which enable and disable.
    FirstBy(Switch, Switch),
}

fn reach(shared: &ContextState, switch: u32) -> Reach {
    let (features, suffixed) = (&shared.features, &shared.raw.suffixed);
    // Desktop OpenGL has indexed switches from 3.0 on.
    let indexed = !features.es || features.indexed_blending;
    match switch {
        glow::BLEND if indexed => Reach::First,
        glow::BLEND => suffixed.indexed(features).map_or(Reach::All, |fns| Reach::FirstBy(fns.enable, fns.disable)),
        glow::SCISSOR_TEST if !features.indexed_viewports => Reach::All,
        glow::SCISSOR_TEST if indexed => Reach::First,
        glow::SCISSOR_TEST => {
            suffixed.viewports(features).map_or(Reach::All, |fns| Reach::FirstBy(fns.enable, fns.disable))
        }
        _ => Reach::All,
    }
}

/// The context must be current and know the switch.
pub(crate) fn set_switch(shared: &ContextState, switch: u32, on: bool) {
    let gl = &shared.gl;
    // SAFETY: the context is current and knows the switch, and has the functions that reach the first.
    unsafe {
        match (reach(shared, switch), on) {
            (Reach::All, true) => gl.enable(switch),
            (Reach::All, false) => gl.disable(switch),
            (Reach::First, true) => gl.enable_draw_buffer(switch, 0),
            (Reach::First, false) => gl.disable_draw_buffer(switch, 0),
            (Reach::FirstBy(enable, _), true) => enable(switch, 0),
            (Reach::FirstBy(_, disable), false) => disable(switch, 0),
        }
    }
}

fn set_color_mask(shared: &ContextState, [red, green, blue, alpha]: [bool; 4]) {
    let (gl, features) = (&shared.gl, &shared.features);
    // SAFETY: the context is current; indexed forms are gated: desktop OpenGL has them from 3.0 on.
    unsafe {
        if !features.es || features.indexed_blending {
            gl.color_mask_draw_buffer(0, red, green, blue, alpha);
        } else if let Some(fns) = shared.raw.suffixed.indexed(features) {
            (fns.color_mask)(0, red.into(), green.into(), blue.into(), alpha.into());
        } else {
            gl.color_mask(red, green, blue, alpha);
        }
    }
}

/// Left, bottom, width and height of viewport 0. The context must be current.
pub(crate) fn set_viewport(shared: &ContextState, v: [f32; 4]) {
    // Mesa writes the clamped values back into what it is given: a copy of its own, in writable memory.
    let values = std::hint::black_box([v]);
    let features = &shared.features;
    // SAFETY: the context is current; array forms are gated.
    unsafe {
        if shared.raw.suffixed.viewport(features, &values[0]) {
            return;
        }
        if features.indexed_viewports {
            shared.gl.viewport_f32_slice(0, 1, &values);
        } else {
            shared.gl.viewport(v[0] as i32, v[1] as i32, v[2] as i32, v[3] as i32);
        }
    }
}

/// Blending of colour and alpha in draw buffer 0.
#[derive(Clone, Copy)]
pub(crate) struct Blending {
    functions: [u32; 4],
    equations: [u32; 2],
}

impl Blending {
    const QUERIES: [u32; 4] = [glow::BLEND_SRC_RGB, glow::BLEND_DST_RGB, glow::BLEND_SRC_ALPHA, glow::BLEND_DST_ALPHA];

    /// Blending of colours that are multiplied by alpha.
    pub(crate) const OVER: Self = Self {
        functions: [glow::ONE, glow::ONE_MINUS_SRC_ALPHA, glow::ONE, glow::ONE_MINUS_SRC_ALPHA],
        equations: [glow::FUNC_ADD; 2],
    };

    /// Reads it. The context must be current.
    pub(crate) fn read(shared: &ContextState) -> Self {
        // SAFETY: the context is current; names are of GL 3.3 and ES 3.0 and each a single integer, of draw buffer 0 where there
        // are several.
        let get = |name| unsafe { shared.gl.get_parameter_i32(name) as u32 };
        Self {
            functions: Self::QUERIES.map(get),
            equations: [glow::BLEND_EQUATION_RGB, glow::BLEND_EQUATION_ALPHA].map(get),
        }
    }

    /// The context must be current.
    pub(crate) fn set(self, shared: &ContextState) {
        let (gl, [src, dst, src_alpha, dst_alpha], [rgb, alpha]) = (&shared.gl, self.functions, self.equations);
        // SAFETY: the context is current; the indexed forms are gated.
        unsafe {
            if shared.features.indexed_blending {
                gl.blend_func_separate_draw_buffer(0, src, dst, src_alpha, dst_alpha);
                gl.blend_equation_separate_draw_buffer(0, rgb, alpha);
            } else if let Some(fns) = shared.raw.suffixed.indexed(&shared.features) {
                (fns.blend_func)(0, src, dst, src_alpha, dst_alpha);
                (fns.blend_equation)(0, rgb, alpha);
            } else {
                gl.blend_func_separate(src, dst, src_alpha, dst_alpha);
                gl.blend_equation_separate(rgb, alpha);
            }
        }
    }
}
