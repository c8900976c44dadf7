//! Rows of state that a host may have set, each with a value that would change what a program draws, reads or uploads.

use super::Host;
use glow::HasContext as _;

/// Calls a function of glow's.
macro_rules! gl {
    ($host:expr, $name:ident($($argument:expr),*)) => {
        // SAFETY: the context is current and has the state; the values are of it.
        unsafe { $host.gl.$name($($argument),*) }
    };
}

/// Calls a function that glow does not wrap.
macro_rules! raw {
    ($host:expr, $name:literal, fn($($ty:ty),*), $($argument:expr),*) => {
        // SAFETY: the context is current and has the function, which is of these types.
        $host.call::<unsafe extern "system" fn($($ty),*)>($name, |f| unsafe { f($($argument),*) })
    };
}

/// Contexts that have a state.
#[derive(Clone, Copy)]
pub enum When {
    All,
    Desktop,
    Compatibility,
    /// Since a version of OpenGL, and of OpenGL ES.
    Since((u32, u32), (u32, u32)),
    Listed(&'static str),
    /// The compatibility profile with an extension.
    CompatibilityWith(&'static str),
}

pub const NO: (u32, u32) = (99, 0);

impl When {
    pub fn has(self, gl: &glow::Context, compatibility: bool) -> bool {
        let version = gl.version();
        let listed = |name| gl.supported_extensions().contains(name);
        match self {
            Self::All => true,
            Self::Desktop => !version.is_embedded,
            Self::Compatibility => compatibility,
            Self::Since(desktop, es) => {
                (version.major, version.minor) >= if version.is_embedded { es } else { desktop }
            }
            Self::Listed(name) => listed(name),
            Self::CompatibilityWith(name) => compatibility && listed(name),
        }
    }
}

/// How a row is set away from its default and back.
pub enum Setting {
    /// By `glEnable`, or `glDisable` where it is on at first.
    Switch(u32, bool),
    /// By `glPixelStorei`: the unusual value and the default.
    Store(u32, i32, i32),
    /// By `glPixelTransferf`, likewise.
    Transfer(u32, f32, f32),
    /// By calls of its own; the state that is compared, if one number names it.
    Calls(Option<u32>, fn(&Host, bool)),
}

pub struct HostRow {
    pub name: &'static str,
    pub when: When,
    pub setting: Setting,
}

impl HostRow {
    /// Away from its default, or back.
    pub fn set(&self, host: &Host, unusual: bool) {
        let gl = &host.gl;
        // SAFETY: the context is current and has the state.
        unsafe {
            match self.setting {
                Setting::Switch(switch, initial) if unusual != initial => gl.enable(switch),
                Setting::Switch(switch, _) => gl.disable(switch),
                Setting::Store(name, value, initial) => gl.pixel_store_i32(name, if unusual { value } else { initial }),
                Setting::Transfer(name, value, initial) => host.transfer(name, if unusual { value } else { initial }),
                Setting::Calls(_, set) => set(host, unusual),
            }
        }
    }

    /// The state as it is.
    pub fn get(&self, host: &Host) -> Vec<u32> {
        let mut values = [f32::NAN; 16];
        // SAFETY: the context is current and has the state, which is 16 numbers at most.
        unsafe {
            match self.setting {
                Setting::Switch(switch, _) => return vec![host.gl.is_enabled(switch).into()],
                Setting::Calls(None, _) => {}
                Setting::Store(name, ..) | Setting::Transfer(name, ..) | Setting::Calls(Some(name), _) => {
                    host.gl.get_parameter_f32_slice(name, &mut values);
                }
            }
        }
        values.map(f32::to_bits).to_vec()
    }
}

const fn row(name: &'static str, when: When, setting: Setting) -> HostRow {
    HostRow { name, when, setting }
}

const fn switch(name: &'static str, switch: u32, when: When) -> HostRow {
    row(name, when, Setting::Switch(switch, false))
}

const fn store(name: &'static str, parameter: u32, value: i32, initial: i32, when: When) -> HostRow {
    row(name, when, Setting::Store(parameter, value, initial))
}

const fn transfer(name: &'static str, parameter: u32, value: f32, initial: f32, when: When) -> HostRow {
    row(name, when, Setting::Transfer(parameter, value, initial))
}

const fn calls(name: &'static str, query: u32, when: When, set: fn(&Host, bool)) -> HostRow {
    row(name, when, Setting::Calls(Some(query), set))
}

const COMPAT: When = When::Compatibility;
const IMAGING: When = When::CompatibilityWith("GL_ARB_imaging");

/// Every row of `docs/opengl-state.md` that a context here can have and a test can set, but for what [`prepare`] sets.
pub fn rows() -> Vec<HostRow> {
    let mut rows = switches();
    rows.extend(pixels());
    rows.extend(others());
    rows
}

pub fn switches() -> Vec<HostRow> {
    use When::{All, Desktop, Listed, Since};
    vec![
        switch("GL_BLEND", glow::BLEND, All),
        switch("GL_SCISSOR_TEST", glow::SCISSOR_TEST, All),
        switch("GL_DEPTH_TEST", glow::DEPTH_TEST, All),
        switch("GL_STENCIL_TEST", glow::STENCIL_TEST, All),
        switch("GL_CULL_FACE", glow::CULL_FACE, All),
        row("GL_DITHER", All, Setting::Switch(glow::DITHER, true)),
        switch("GL_RASTERIZER_DISCARD", glow::RASTERIZER_DISCARD, All),
        switch("GL_FRAMEBUFFER_SRGB", glow::FRAMEBUFFER_SRGB, Desktop),
        switch("GL_COLOR_LOGIC_OP", glow::COLOR_LOGIC_OP, Desktop),
        switch("GL_PRIMITIVE_RESTART", glow::PRIMITIVE_RESTART, Desktop),
        switch("GL_PRIMITIVE_RESTART_FIXED_INDEX", glow::PRIMITIVE_RESTART_FIXED_INDEX, Since((4, 3), (3, 0))),
        switch("GL_POLYGON_SMOOTH", glow::POLYGON_SMOOTH, Desktop),
        switch("GL_POLYGON_STIPPLE", 0x0B42, COMPAT),
        switch("GL_ALPHA_TEST", 0x0BC0, COMPAT),
        switch("GL_SAMPLE_ALPHA_TO_COVERAGE", glow::SAMPLE_ALPHA_TO_COVERAGE, All),
        switch("GL_SAMPLE_ALPHA_TO_ONE", glow::SAMPLE_ALPHA_TO_ONE, Desktop),
        switch("GL_SAMPLE_COVERAGE", glow::SAMPLE_COVERAGE, All),
        switch("GL_SAMPLE_MASK", glow::SAMPLE_MASK, Since((3, 2), (3, 1))),
        switch("GL_SAMPLE_SHADING", glow::SAMPLE_SHADING, Since((4, 0), (3, 2))),
        switch("GL_CLIP_DISTANCE0", glow::CLIP_DISTANCE0, Desktop),
        switch("GL_CLIP_DISTANCE1", glow::CLIP_DISTANCE0 + 1, Desktop),
        switch("GL_CLIP_DISTANCE2", glow::CLIP_DISTANCE0 + 2, Desktop),
        switch("GL_CLIP_DISTANCE3", glow::CLIP_DISTANCE0 + 3, Desktop),
        switch("GL_CLIP_DISTANCE4", glow::CLIP_DISTANCE0 + 4, Desktop),
        switch("GL_CLIP_DISTANCE5", glow::CLIP_DISTANCE0 + 5, Desktop),
        switch("GL_CLIP_DISTANCE6", glow::CLIP_DISTANCE0 + 6, Desktop),
        switch("GL_CLIP_DISTANCE7", glow::CLIP_DISTANCE0 + 7, Desktop),
        switch("GL_DEPTH_BOUNDS_TEST_EXT", 0x8890, Listed("GL_EXT_depth_bounds_test")),
        switch("GL_RASTER_MULTISAMPLE_EXT", 0x9327, Listed("GL_EXT_raster_multisample")),
        switch("GL_CONSERVATIVE_RASTERIZATION_NV", 0x9346, Listed("GL_NV_conservative_raster")),
        switch("GL_CONSERVATIVE_RASTERIZATION_INTEL", 0x83FE, Listed("GL_INTEL_conservative_rasterization")),
        switch("GL_FRAGMENT_COVERAGE_TO_COLOR_NV", 0x92DD, Listed("GL_NV_fragment_coverage_to_color")),
        switch("GL_SHADING_RATE_IMAGE_NV", 0x9563, Listed("GL_NV_shading_rate_image")),
        switch("GL_SCISSOR_TEST_EXCLUSIVE_NV", 0x9555, Listed("GL_NV_scissor_exclusive")),
        switch("GL_REPRESENTATIVE_FRAGMENT_TEST_NV", 0x937F, Listed("GL_NV_representative_fragment_test")),
        switch("GL_COLOR_TABLE", 0x80D0, IMAGING),
        switch("GL_POST_CONVOLUTION_COLOR_TABLE", 0x80D1, IMAGING),
        switch("GL_POST_COLOR_MATRIX_COLOR_TABLE", 0x80D2, IMAGING),
        switch("GL_CONVOLUTION_1D", 0x8010, IMAGING),
        switch("GL_CONVOLUTION_2D", 0x8011, IMAGING),
        switch("GL_SEPARABLE_2D", 0x8012, IMAGING),
        switch("GL_HISTOGRAM", 0x8024, IMAGING),
        switch("GL_MINMAX", 0x802E, IMAGING),
        // What cannot matter.
        row("GL_MULTISAMPLE", Desktop, Setting::Switch(glow::MULTISAMPLE, true)),
        switch("GL_DEPTH_CLAMP", glow::DEPTH_CLAMP, Desktop),
        switch("GL_POLYGON_OFFSET_FILL", glow::POLYGON_OFFSET_FILL, All),
        switch("GL_LINE_SMOOTH", glow::LINE_SMOOTH, Desktop),
        switch("GL_PROGRAM_POINT_SIZE", glow::PROGRAM_POINT_SIZE, Desktop),
        switch("GL_TEXTURE_CUBE_MAP_SEAMLESS", glow::TEXTURE_CUBE_MAP_SEAMLESS, Desktop),
        switch("GL_DEBUG_OUTPUT", glow::DEBUG_OUTPUT, Since((4, 3), (3, 2))),
        switch("GL_BLEND_ADVANCED_COHERENT_KHR", 0x9285, Listed("GL_KHR_blend_equation_advanced_coherent")),
        switch("GL_FOG", 0x0B60, COMPAT),
        switch("GL_LIGHTING", 0x0B50, COMPAT),
        switch("GL_COLOR_MATERIAL", 0x0B57, COMPAT),
        switch("GL_NORMALIZE", 0x0BA1, COMPAT),
        switch("GL_RESCALE_NORMAL", 0x803A, COMPAT),
        switch("GL_COLOR_SUM", 0x8458, COMPAT),
        switch("GL_TEXTURE_1D", 0x0DE0, COMPAT),
        switch("GL_TEXTURE_2D", 0x0DE1, COMPAT),
        switch("GL_TEXTURE_GEN_S", 0x0C60, COMPAT),
        switch("GL_VERTEX_PROGRAM_TWO_SIDE", 0x8643, COMPAT),
        switch("GL_INDEX_LOGIC_OP", 0x0BF1, COMPAT),
        switch("GL_LINE_STIPPLE", 0x0B24, COMPAT),
        switch("GL_POINT_SMOOTH", 0x0B10, COMPAT),
        switch("GL_POINT_SPRITE", 0x8861, COMPAT),
        switch("GL_AUTO_NORMAL", 0x0D80, COMPAT),
        switch("GL_MAP2_VERTEX_3", 0x0DB7, COMPAT),
        switch("GL_VERTEX_PROGRAM_ARB", 0x8620, When::CompatibilityWith("GL_ARB_vertex_program")),
        switch("GL_FRAGMENT_PROGRAM_ARB", 0x8804, When::CompatibilityWith("GL_ARB_fragment_program")),
    ]
}

pub fn pixels() -> Vec<HostRow> {
    use When::{All, Desktop, Since};
    vec![
        store("GL_PACK_ALIGNMENT", glow::PACK_ALIGNMENT, 8, 4, All),
        store("GL_PACK_ROW_LENGTH", glow::PACK_ROW_LENGTH, 7, 0, All),
        store("GL_PACK_SKIP_ROWS", glow::PACK_SKIP_ROWS, 2, 0, All),
        store("GL_PACK_SKIP_PIXELS", glow::PACK_SKIP_PIXELS, 3, 0, All),
        store("GL_PACK_SWAP_BYTES", glow::PACK_SWAP_BYTES, 1, 0, Desktop),
        store("GL_PACK_LSB_FIRST", glow::PACK_LSB_FIRST, 1, 0, Desktop),
        store("GL_PACK_IMAGE_HEIGHT", glow::PACK_IMAGE_HEIGHT, 3, 0, Desktop),
        store("GL_PACK_SKIP_IMAGES", glow::PACK_SKIP_IMAGES, 2, 0, Desktop),
        store("GL_PACK_INVERT_MESA", 0x8758, 1, 0, When::Listed("GL_MESA_pack_invert")),
        store("GL_PACK_REVERSE_ROW_ORDER_ANGLE", 0x93A4, 1, 0, When::Listed("GL_ANGLE_pack_reverse_row_order")),
        store("GL_UNPACK_ALIGNMENT", glow::UNPACK_ALIGNMENT, 8, 4, All),
        store("GL_UNPACK_ROW_LENGTH", glow::UNPACK_ROW_LENGTH, 7, 0, All),
        store("GL_UNPACK_SKIP_ROWS", glow::UNPACK_SKIP_ROWS, 2, 0, All),
        store("GL_UNPACK_SKIP_PIXELS", glow::UNPACK_SKIP_PIXELS, 3, 0, All),
        store("GL_UNPACK_SWAP_BYTES", glow::UNPACK_SWAP_BYTES, 1, 0, Desktop),
        store("GL_UNPACK_LSB_FIRST", glow::UNPACK_LSB_FIRST, 1, 0, Desktop),
        store("GL_UNPACK_IMAGE_HEIGHT", glow::UNPACK_IMAGE_HEIGHT, 3, 0, All),
        store("GL_UNPACK_SKIP_IMAGES", glow::UNPACK_SKIP_IMAGES, 2, 0, All),
        store("GL_UNPACK_COMPRESSED_BLOCK_WIDTH", glow::UNPACK_COMPRESSED_BLOCK_WIDTH, 4, 0, Since((4, 2), NO)),
        transfer("GL_MAP_COLOR", 0x0D10, 1.0, 0.0, COMPAT),
        transfer("GL_RED_SCALE", 0x0D14, 0.5, 1.0, COMPAT),
        transfer("GL_GREEN_SCALE", 0x0D18, 0.5, 1.0, COMPAT),
        transfer("GL_BLUE_SCALE", 0x0D1A, 0.5, 1.0, COMPAT),
        transfer("GL_ALPHA_SCALE", 0x0D1C, 0.5, 1.0, COMPAT),
        transfer("GL_RED_BIAS", 0x0D15, 0.25, 0.0, COMPAT),
        transfer("GL_GREEN_BIAS", 0x0D19, 0.25, 0.0, COMPAT),
        transfer("GL_BLUE_BIAS", 0x0D1B, 0.25, 0.0, COMPAT),
        transfer("GL_ALPHA_BIAS", 0x0D1D, 0.25, 0.0, COMPAT),
        transfer("GL_POST_COLOR_MATRIX_RED_SCALE", 0x80B4, 0.5, 1.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_GREEN_SCALE", 0x80B5, 0.5, 1.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_BLUE_SCALE", 0x80B6, 0.5, 1.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_ALPHA_SCALE", 0x80B7, 0.5, 1.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_RED_BIAS", 0x80B8, 0.25, 0.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_GREEN_BIAS", 0x80B9, 0.25, 0.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_BLUE_BIAS", 0x80BA, 0.25, 0.0, IMAGING),
        transfer("GL_POST_COLOR_MATRIX_ALPHA_BIAS", 0x80BB, 0.25, 0.0, IMAGING),
        transfer("GL_POST_CONVOLUTION_RED_SCALE", 0x801C, 0.5, 1.0, IMAGING),
        transfer("GL_POST_CONVOLUTION_RED_BIAS", 0x8020, 0.25, 0.0, IMAGING),
        transfer("GL_MAP_STENCIL", 0x0D11, 1.0, 0.0, COMPAT),
        transfer("GL_INDEX_SHIFT", 0x0D12, 2.0, 0.0, COMPAT),
        transfer("GL_INDEX_OFFSET", 0x0D13, 2.0, 0.0, COMPAT),
        transfer("GL_DEPTH_SCALE", 0x0D1E, 0.5, 1.0, COMPAT),
        transfer("GL_DEPTH_BIAS", 0x0D1F, 0.5, 0.0, COMPAT),
    ]
}

/// A value or its default.
const fn either(unusual: bool, value: f32, initial: f32) -> f32 {
    if unusual { value } else { initial }
}

fn others() -> Vec<HostRow> {
    use When::{All, Desktop, Listed, Since};
    let depth: fn(&Host, bool) = |host, on| gl!(host, depth_mask(!on));
    vec![
        row("GL_TRANSFORM_FEEDBACK_ACTIVE", Since((4, 0), (3, 0)), Setting::Calls(Some(0x8E23), Host::feed_back)),
        calls("GL_COLOR_WRITEMASK", glow::COLOR_WRITEMASK, All, |host, on| {
            gl!(host, color_mask(!on, true, !on, !on));
        }),
        calls("GL_POLYGON_MODE", glow::POLYGON_MODE, Desktop, |host, on| {
            gl!(host, polygon_mode(glow::FRONT_AND_BACK, if on { glow::POINT } else { glow::FILL }));
            if host.compatibility {
                gl!(host, polygon_mode(glow::BACK, if on { glow::LINE } else { glow::FILL }));
            }
        }),
        calls("GL_CLAMP_FRAGMENT_COLOR", 0x891B, COMPAT, |host, on| host.clamp(0x891B, on)),
        calls("GL_CLAMP_READ_COLOR", 0x891C, Desktop, |host, on| host.clamp(0x891C, on)),
        calls("GL_CLAMP_VERTEX_COLOR", 0x891A, COMPAT, |host, on| host.clamp(0x891A, !on)),
        calls("GL_QUERY_BUFFER_BINDING", glow::QUERY_BUFFER_BINDING, Since((4, 4), NO), |host, on| {
            gl!(host, bind_buffer(glow::QUERY_BUFFER, on.then_some(host.buffer)));
        }),
        calls("GL_BLEND_EQUATION", glow::BLEND_EQUATION_RGB, Listed("GL_KHR_blend_equation_advanced"), |host, on| {
            // GL_MULTIPLY_KHR.
            gl!(host, blend_equation(if on { 0x9294 } else { glow::FUNC_ADD }));
        }),
        calls("GL_DEPTH_WRITEMASK", glow::DEPTH_WRITEMASK, All, depth),
        calls("GL_FRONT_FACE", glow::FRONT_FACE, All, |host, on| {
            gl!(host, front_face(if on { glow::CW } else { glow::CCW }));
        }),
        calls("GL_PROVOKING_VERTEX", glow::PROVOKING_VERTEX, Since((3, 2), NO), |host, on| {
            let convention = if on { glow::FIRST_VERTEX_CONVENTION } else { glow::LAST_VERTEX_CONVENTION };
            raw!(host, c"glProvokingVertex", fn(u32), convention);
        }),
        calls("GL_PATCH_VERTICES", glow::PATCH_VERTICES, Since((4, 0), (3, 2)), |host, on| {
            gl!(host, patch_parameter_i32(glow::PATCH_VERTICES, if on { 7 } else { 3 }));
        }),
        calls("GL_CLIP_ORIGIN", glow::CLIP_ORIGIN, Since((4, 5), NO), |host, on| {
            let (origin, depth) =
                if on { (glow::UPPER_LEFT, glow::ZERO_TO_ONE) } else { (glow::LOWER_LEFT, glow::NEGATIVE_ONE_TO_ONE) };
            raw!(host, c"glClipControl", fn(u32, u32), origin, depth);
        }),
        calls("GL_DEPTH_RANGE", glow::DEPTH_RANGE, All, |host, on| {
            gl!(host, depth_range_f32(either(on, 0.75, 0.0), either(on, 0.25, 1.0)));
        }),
        calls("GL_PROGRAM_PIPELINE_BINDING", glow::PROGRAM_PIPELINE_BINDING, Since((4, 1), (3, 1)), |host, on| {
            let name = if on { host.pipeline } else { 0 };
            raw!(host, c"glBindProgramPipeline", fn(u32), name);
        }),
        calls("GL_PRIMITIVE_BOUNDING_BOX", 0x92BE, Since(NO, (3, 2)), |host, on| {
            let far = either(on, -0.5, 1.0);
            raw!(
                host,
                c"glPrimitiveBoundingBox",
                fn(f32, f32, f32, f32, f32, f32, f32, f32),
                -1.0,
                -1.0,
                -1.0,
                1.0,
                far,
                far,
                far,
                1.0
            );
        }),
        calls("GL_NUM_WINDOW_RECTANGLES_EXT", 0x8F15, Listed("GL_EXT_window_rectangles"), |host, on| {
            rectangles(host, 0x8F11, on);
        }),
        calls("GL_WINDOW_RECTANGLE_MODE_EXT", 0x8F13, Listed("GL_EXT_window_rectangles"), |host, on| {
            rectangles(host, if on { 0x8F10 } else { 0x8F11 }, false);
        }),
        row(
            "GL_VIEWPORT_SWIZZLE_NV",
            Listed("GL_NV_viewport_swizzle"),
            Setting::Calls(None, |host, on| {
                let x = if on { 0x9351 } else { 0x9350 };
                raw!(host, c"glViewportSwizzleNV", fn(u32, u32, u32, u32, u32), 0, x, 0x9352, 0x9354, 0x9356);
            }),
        ),
        calls("GL_LIST_INDEX", 0x0B33, COMPAT, |host, on| {
            if on {
                raw!(host, c"glNewList", fn(u32, u32), 77, 0x1300);
            } else {
                raw!(host, c"glEndList", fn(),);
            }
        }),
        calls("GL_RENDER_MODE", 0x0C40, COMPAT, |host, on| {
            raw!(host, c"glRenderMode", fn(u32), if on { 0x1C02 } else { 0x1C00 });
        }),
        calls("GL_COLOR_MATRIX", 0x80B1, IMAGING, |host, on| {
            raw!(host, c"glMatrixMode", fn(u32), 0x1800);
            let mut matrix = [0.0_f32; 16];
            (0..4).for_each(|at| matrix[at * 5] = either(on, 0.5, 1.0));
            raw!(host, c"glLoadMatrixf", fn(*const f32), matrix.as_ptr());
            raw!(host, c"glMatrixMode", fn(u32), 0x1700);
        }),
        calls("GL_MODELVIEW_MATRIX", 0x0BA6, COMPAT, |host, on| {
            let mut matrix = [0.0_f32; 16];
            (0..4).for_each(|at| matrix[at * 5] = either(on, 0.25, 1.0));
            raw!(host, c"glLoadMatrixf", fn(*const f32), matrix.as_ptr());
        }),
        calls("GL_SHADE_MODEL", 0x0B54, COMPAT, |host, on| {
            raw!(host, c"glShadeModel", fn(u32), if on { 0x1D00 } else { 0x1D01 });
        }),
        calls("GL_ZOOM_X", 0x0D16, COMPAT, |host, on| {
            raw!(host, c"glPixelZoom", fn(f32, f32), either(on, 2.0, 1.0), either(on, -1.0, 1.0));
        }),
        calls("GL_CURRENT_COLOR", 0x0B00, COMPAT, |host, on| {
            raw!(host, c"glColor3f", fn(f32, f32, f32), 1.0, either(on, 0.0, 1.0), 1.0);
        }),
        row(
            "GL_TEXTURE_LOD_BIAS",
            COMPAT,
            Setting::Calls(None, |host, on| {
                raw!(host, c"glTexEnvf", fn(u32, u32, f32), 0x8500, 0x8501, either(on, 4.0, 0.0));
            }),
        ),
    ]
}

fn rectangles(host: &Host, mode: u32, one: bool) {
    let edges = [0, 0, 3, 3];
    raw!(host, c"glWindowRectanglesEXT", fn(u32, i32, *const i32), mode, one.into(), edges.as_ptr());
}

/// Parameters that matter once their row is switched on, and are reasons for it to drop or to change fragments.
pub fn prepare(host: &Host) {
    let gl = &host.gl;
    // SAFETY: the context is current.
    unsafe {
        gl.scissor(0, 0, 1, 1);
        gl.depth_func(glow::NEVER);
        gl.stencil_func(glow::NEVER, 1, 0xff);
        gl.stencil_op(glow::INCR, glow::INCR, glow::INCR);
        gl.cull_face(glow::FRONT_AND_BACK);
        gl.blend_func(glow::ZERO, glow::ONE);
        gl.blend_color(0.5, 0.5, 0.5, 0.5);
        gl.sample_coverage(0.0, false);
        gl.polygon_offset(3.0, 3.0);
        gl.stencil_mask(0x0f);
        gl.clear_color(0.1, 0.2, 0.3, 0.4);
        let version = (gl.version().major, gl.version().minor);
        let es = gl.version().is_embedded;
        if !es || version >= (3, 1) {
            host.call::<unsafe extern "system" fn(u32, u32)>(c"glSampleMaski", |f| f(0, 0));
        }
        if es && version >= (3, 2) || !es && version >= (4, 0) {
            host.call::<unsafe extern "system" fn(f32)>(c"glMinSampleShading", |f| f(1.0));
        }
        if !es {
            host.call::<unsafe extern "system" fn(u32)>(c"glLogicOp", |f| f(glow::CLEAR));
            host.call::<unsafe extern "system" fn(u32)>(c"glPrimitiveRestartIndex", |f| f(0));
        }
        if gl.supported_extensions().contains("GL_EXT_depth_bounds_test") {
            host.call::<unsafe extern "system" fn(f64, f64)>(c"glDepthBoundsEXT", |f| f(0.9, 1.0));
        }
        if gl.supported_extensions().contains("GL_NV_scissor_exclusive") {
            host.call::<unsafe extern "system" fn(i32, i32, i32, i32)>(c"glScissorExclusiveNV", |f| f(0, 0, 9, 9));
        }
        if gl.supported_extensions().contains("GL_EXT_raster_multisample") {
            host.call::<unsafe extern "system" fn(u32, u8)>(c"glRasterSamplesEXT", |f| f(4, 1));
        }
        if es || host.compatibility {
            gl.line_width(3.0);
        }
        if host.compatibility {
            host.call::<unsafe extern "system" fn(u32, f32)>(c"glAlphaFunc", |f| f(glow::GREATER, 0.5));
            host.call::<unsafe extern "system" fn(f32)>(c"glPointSize", |f| f(9.0));
            host.call::<unsafe extern "system" fn(u32, i32, *const f32)>(c"glPixelMapfv", |f| {
                // GL_PIXEL_MAP_R_TO_R.
                f(0x0C76, 2, [0.75, 0.25].as_ptr());
            });
            host.call::<unsafe extern "system" fn(*const u8)>(c"glPolygonStipple", |f| f([0; 128].as_ptr()));
            host.call::<unsafe extern "system" fn(i32, *mut u32)>(c"glSelectBuffer", |f| {
                f(64, Box::leak(Box::new([0; 64])).as_mut_ptr());
            });
        }
    }
}

/// State of the page that [`prepare`] sets for the whole of a trial.
const PREPARED: [&str; 18] = [
    "GL_SCISSOR_BOX",
    "GL_DEPTH_FUNC",
    "GL_STENCIL_FUNC",
    "GL_STENCIL_WRITEMASK",
    "GL_CULL_FACE_MODE",
    "GL_LOGIC_OP_MODE",
    "GL_ALPHA_TEST_FUNC",
    "GL_BLEND_COLOR",
    "GL_SAMPLE_COVERAGE_VALUE",
    "GL_SAMPLE_MASK_VALUE",
    "GL_MIN_SAMPLE_SHADING_VALUE",
    "GL_PRIMITIVE_RESTART_INDEX",
    "GL_POLYGON_STIPPLE_PATTERN",
    "GL_PIXEL_MAP_R_TO_R",
    "GL_COLOR_CLEAR_VALUE",
    "GL_LINE_WIDTH",
    "GL_POINT_SIZE",
    "GL_CLIP_DEPTH_MODE",
];

/// State of extensions that no driver here lists.
const UNTESTED: [&str; 3] = ["GL_POLYGON_MODE_NV", "GL_SHADING_RATE_QCOM", "GL_SHADING_RATE_EXT"];

#[test]
fn every_row_of_the_page_is_set() {
    let page = include_str!("../../../../../../docs/opengl-state.md");
    let cells = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let listed = cells.flat_map(|cell| cell.split('`').filter(|name| name.starts_with("GL_")));
    let mut listed: Vec<&str> = listed.filter(|name| *name != "GL_CLIP_PLANE0").collect();
    let rows = rows();
    let mut tested: Vec<&str> = rows.iter().map(|row| row.name).chain(PREPARED).chain(UNTESTED).collect();
    listed.sort_unstable();
    tested.sort_unstable();
    assert_eq!(listed, tested);
}
