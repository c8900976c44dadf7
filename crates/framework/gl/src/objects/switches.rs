//! Switches, masks, viewports and blending of a context. Some exist once for each draw buffer or viewport; then only
//! the first is changed.

use crate::api::host_state::SIDES;
use crate::api::suffixed_fns::Switch;
use crate::context::context_state::ContextState;
use glow::HasContext as _;

/// `GL_SCISSOR_TEST_EXCLUSIVE_NV`, which each viewport has.
const SCISSOR_TEST_EXCLUSIVE_NV: u32 = 0x9555;

/// How a switch is reached that may exist once for each draw buffer or viewport.
enum Reach {
    /// The switch exists once.
    All,
    /// The first one, with core functions of the version.
    First,
    /// The first one, with functions of an extension that enable and disable it.
    FirstBy(Switch, Switch),
}

fn reach(shared: &ContextState, switch: u32) -> Reach {
    let (features, suffixed) = (&shared.features, &shared.raw.suffixed);
    // Desktop OpenGL has indexed switches from 3.0 on.
    let indexed = !features.es || features.indexed_blending;
    match switch {
        glow::BLEND if indexed => Reach::First,
        glow::BLEND => suffixed.indexed(features).map_or(Reach::All, |fns| Reach::FirstBy(fns.enable, fns.disable)),
        SCISSOR_TEST_EXCLUSIVE_NV => Reach::First,
        glow::SCISSOR_TEST if !features.indexed_viewports => Reach::All,
        glow::SCISSOR_TEST if indexed => Reach::First,
        glow::SCISSOR_TEST => {
            suffixed.viewports(features).map_or(Reach::All, |fns| Reach::FirstBy(fns.enable, fns.disable))
        }
        _ => Reach::All,
    }
}

/// Sets a switch. The context must be current and have it.
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

/// Sets the colour mask of draw buffer 0, red in the lowest bit. The context must be current.
pub(crate) fn set_color_mask(shared: &ContextState, bits: u8) {
    let (gl, features) = (&shared.gl, &shared.features);
    let [red, green, blue, alpha] = [0, 1, 2, 3].map(|channel| bits >> channel & 1 != 0);
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

/// Sets the mode of the front and, from the part times [`SIDES`], of the back. The context must be current and have
/// modes.
pub(crate) fn set_polygon_mode(gl: &glow::Context, modes: u32) {
    let (front, back) = (modes % SIDES, modes / SIDES);
    // SAFETY: the context is current; only the compatibility profile has sides that differ.
    unsafe {
        if front == back {
            gl.polygon_mode(glow::FRONT_AND_BACK, front);
        } else {
            gl.polygon_mode(glow::FRONT, front);
            gl.polygon_mode(glow::BACK, back);
        }
    }
}

/// Sets left, bottom, width and height of viewport 0. The context must be current.
pub(crate) fn set_viewport(shared: &ContextState, v: [f32; 4]) {
    // Mesa writes the clamped values back to its argument, so this is a copy in writable memory.
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

    /// Reads the blending state. The context must be current.
    pub(crate) fn read(shared: &ContextState) -> Self {
        // SAFETY: the context is current; names are of GL 3.3 and ES 3.0 and each a single integer, of draw buffer 0 where there
        // are several.
        let get = |name| unsafe { shared.gl.get_parameter_i32(name) as u32 };
        Self {
            functions: Self::QUERIES.map(get),
            equations: [glow::BLEND_EQUATION_RGB, glow::BLEND_EQUATION_ALPHA].map(get),
        }
    }

    /// Sets the blending state. The context must be current.
    pub(crate) fn set(self, shared: &ContextState) {
        let (gl, [src, dst, src_alpha, dst_alpha], [rgb, alpha]) = (&shared.gl, self.functions, self.equations);
        // SAFETY: the context is current; the indexed forms are gated.
        unsafe {
            if shared.features.indexed_blending {
                gl.blend_func_separate_draw_buffer(0, src, dst, src_alpha, dst_alpha);
                // Advanced equations (GL_KHR_blend_equation_advanced) apply to colour and alpha together.
                if rgb == alpha {
                    gl.blend_equation_draw_buffer(0, rgb);
                } else {
                    gl.blend_equation_separate_draw_buffer(0, rgb, alpha);
                }
            } else if let Some(fns) = shared.raw.suffixed.indexed(&shared.features) {
                (fns.blend_func)(0, src, dst, src_alpha, dst_alpha);
                (fns.blend_equation)(0, rgb, alpha);
            } else {
                gl.blend_func_separate(src, dst, src_alpha, dst_alpha);
                if rgb == alpha { gl.blend_equation(rgb) } else { gl.blend_equation_separate(rgb, alpha) }
            }
        }
    }
}
