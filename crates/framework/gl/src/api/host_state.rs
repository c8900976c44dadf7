//! Context state that the host may have set and that affects calls of this crate: one table for all of it.
//!
//! `docs/opengl-state.md` lists these rows, and the state that has no effect with the reason. A test keeps both in
//! agreement.

use glow::HasContext as _;
use interop_core::{Error, Result};

/// `GL_FILL` for the front and the back.
const FILLED: f64 = (glow::FILL * (1 + SIDES)) as f64;
/// Factor that separates the two sides of a polygon mode in one number.
pub(crate) const SIDES: u32 = 0x1_0000;
/// `GL_VIEWPORT_SWIZZLE_X_NV` and `GL_VIEWPORT_SWIZZLE_POSITIVE_X_NV`; the values for the other axes follow.
const SWIZZLE_X: u32 = 0x9358;
const POSITIVE_X: u32 = 0x9350;
const FIXED_ONLY: f64 = glow::FIXED_ONLY as f64;

/// Calls that a state affects, as bits.
pub(crate) type Calls = u8;

/// Draws with a triangle.
pub(crate) const DRAWS: Calls = 1;
/// Clears and blits.
pub(crate) const CLEARS: Calls = 2;
/// `glReadPixels`.
pub(crate) const READS: Calls = 4;
/// `glTexSubImage2D`.
pub(crate) const UPLOADS: Calls = 8;
/// Reads of query results.
pub(crate) const QUERIES: Calls = 16;
/// Compute shaders that store what a triangle would draw.
pub(crate) const STORES: Calls = 32;
/// All calls: while a display list is compiled, it records them instead of executing them.
pub(crate) const LISTED: Calls = 64;
pub(crate) const ALL: Calls = u8::MAX;

/// Contexts that have a state.
#[derive(Clone, Copy)]
enum In {
    All,
    /// Contexts from a version of desktop OpenGL on, or from a version of OpenGL ES on.
    Since((u32, u32), (u32, u32)),
    /// Desktop OpenGL, and OpenGL ES with an extension.
    DesktopOr(&'static str),
    /// Contexts that list one of these extensions.
    Listed(&'static [&'static str]),
    /// The compatibility profile.
    Compatibility,
    /// The compatibility profile with `GL_ARB_imaging`.
    Imaging,
    /// OpenGL ES with an extension.
    EsWith(&'static str),
}

const NEVER: (u32, u32) = (u32::MAX, 0);
const DESKTOP: In = In::Since((3, 3), NEVER);

impl In {
    fn has(self, gl: &glow::Context, core: bool) -> bool {
        let (version, listed) = (gl.version(), |extension: &str| gl.supported_extensions().contains(extension));
        let (es, number) = (version.is_embedded, (version.major, version.minor));
        let compatibility = !es && !core;
        match self {
            Self::All => true,
            Self::Since(desktop, of_es) => number >= if es { of_es } else { desktop },
            Self::DesktopOr(extension) => !es || listed(extension),
            Self::Listed(extensions) => extensions.iter().any(|extension| listed(extension)),
            Self::Compatibility => compatibility,
            Self::Imaging => compatibility && listed("GL_ARB_imaging"),
            Self::EsWith(extension) => es && listed(extension),
        }
    }
}

/// How a state is read and set.
#[derive(Clone, Copy)]
pub(crate) enum Setting {
    /// Set with `glEnable`; for draw buffer or viewport 0, where each has its own.
    Switch(u32),
    /// Set with `glPixelStorei`.
    PixelStore(u32),
    /// Set with `glPixelTransferf`.
    PixelTransfer(u32),
    /// Set with `glClampColor`.
    Clamp(u32),
    /// The colour mask of draw buffer 0.
    ColorMask,
    /// The polygon mode of both sides.
    PolygonMode,
    /// The buffer that receives results of queries.
    QueryBuffer,
    /// Active transform feedback.
    Feedback,
    /// A state with which calls are rejected unless the numbers are these.
    Refused(u32, &'static [f32]),
    /// A state with which calls are rejected unless each coordinate is unchanged (`GL_NV_viewport_swizzle`).
    Swizzle,
}

/// One state of a context.
pub(crate) struct StateRow {
    /// Name of the state in OpenGL.
    pub name: &'static str,
    known: In,
    calls: Calls,
    pub setting: Setting,
    /// The value with which calls are unaffected.
    pub neutral: f64,
    /// The value in a new context.
    pub initial: f64,
}

const fn row(name: &'static str, known: In, calls: Calls, setting: Setting, neutral: f64, initial: f64) -> StateRow {
    StateRow { name, known, calls, setting, neutral, initial }
}

const fn switch(name: &'static str, switch: u32, known: In, calls: Calls) -> StateRow {
    row(name, known, calls, Setting::Switch(switch), 0.0, 0.0)
}

const fn store(name: &'static str, parameter: u32, known: In, calls: Calls) -> StateRow {
    row(name, known, calls, Setting::PixelStore(parameter), 0.0, 0.0)
}

const fn transfer(name: &'static str, parameter: u32, known: In, neutral: f64) -> StateRow {
    row(name, known, READS | UPLOADS, Setting::PixelTransfer(parameter), neutral, neutral)
}

const fn refused(name: &'static str, query: u32, known: In, calls: Calls, fine: &'static [f32]) -> StateRow {
    row(name, known, calls, Setting::Refused(query, fine), 0.0, 0.0)
}

const DISTANCES: In = In::DesktopOr("GL_EXT_clip_cull_distance");
const RECTANGLES: In = In::Listed(&["GL_EXT_window_rectangles"]);
const BOXES: In =
    In::Listed(&["GL_ARB_ES3_2_compatibility", "GL_EXT_primitive_bounding_box", "GL_OES_primitive_bounding_box"]);
const LIST_INDEX: u32 = 0x0B33;
/// `GL_RENDER`.
const RENDER: f32 = 0x1C00 as f32;
/// `GL_EXCLUSIVE_EXT`.
const EXCLUSIVE: f32 = 0x8F11 as f32;
/// `GL_SHADING_RATE_1X1_PIXELS_EXT`, also used by `GL_QCOM_shading_rate`.
const EACH_PIXEL: f32 = 0x96A6 as f32;
const IMAGE: Calls = READS | UPLOADS;
const PROGRAMS: Calls = DRAWS | STORES;

/// State that must be as in a new context during calls, and is restored afterwards.
static STATES: [StateRow; 88] = [
    // First in the table, so restored last: no other program can be used while feedback is active.
    row("GL_TRANSFORM_FEEDBACK_ACTIVE", In::Since((4, 0), (3, 0)), PROGRAMS, Setting::Feedback, 0.0, 0.0),
    switch("GL_BLEND", glow::BLEND, In::All, DRAWS),
    switch("GL_SCISSOR_TEST", glow::SCISSOR_TEST, In::All, DRAWS | CLEARS),
    switch("GL_DEPTH_TEST", glow::DEPTH_TEST, In::All, DRAWS),
    switch("GL_STENCIL_TEST", glow::STENCIL_TEST, In::All, DRAWS),
    switch("GL_CULL_FACE", glow::CULL_FACE, In::All, DRAWS),
    row("GL_DITHER", In::All, DRAWS | CLEARS, Setting::Switch(glow::DITHER), 0.0, 1.0),
    switch("GL_RASTERIZER_DISCARD", glow::RASTERIZER_DISCARD, In::All, DRAWS | CLEARS),
    row("GL_COLOR_WRITEMASK", In::All, DRAWS | CLEARS, Setting::ColorMask, 15.0, 15.0),
    switch("GL_FRAMEBUFFER_SRGB", glow::FRAMEBUFFER_SRGB, In::DesktopOr("GL_EXT_sRGB_write_control"), DRAWS | CLEARS),
    switch("GL_COLOR_LOGIC_OP", glow::COLOR_LOGIC_OP, DESKTOP, DRAWS),
    // OpenGL 4.6 core, section 10.3.6: this applies to arrays, too. Its initial index 0 is the first vertex, so NVIDIA
    // draws nothing.
    switch("GL_PRIMITIVE_RESTART", glow::PRIMITIVE_RESTART, DESKTOP, DRAWS),
    row("GL_POLYGON_MODE", DESKTOP, DRAWS, Setting::PolygonMode, FILLED, FILLED),
    switch("GL_POLYGON_SMOOTH", glow::POLYGON_SMOOTH, DESKTOP, DRAWS),
    switch("GL_POLYGON_STIPPLE", 0x0B42, In::Compatibility, DRAWS),
    switch("GL_ALPHA_TEST", 0x0BC0, In::Compatibility, DRAWS),
    row("GL_CLAMP_FRAGMENT_COLOR", In::Compatibility, DRAWS, Setting::Clamp(0x891B), FIXED_ONLY, FIXED_ONLY),
    switch("GL_SAMPLE_ALPHA_TO_COVERAGE", glow::SAMPLE_ALPHA_TO_COVERAGE, In::All, DRAWS),
    switch(
        "GL_SAMPLE_ALPHA_TO_ONE",
        glow::SAMPLE_ALPHA_TO_ONE,
        In::DesktopOr("GL_EXT_multisample_compatibility"),
        DRAWS,
    ),
    switch("GL_SAMPLE_COVERAGE", glow::SAMPLE_COVERAGE, In::All, DRAWS),
    switch("GL_SAMPLE_MASK", glow::SAMPLE_MASK, In::Since((3, 2), (3, 1)), DRAWS),
    switch("GL_SAMPLE_SHADING", glow::SAMPLE_SHADING, In::Since((4, 0), (3, 2)), DRAWS),
    switch("GL_CLIP_DISTANCE0", glow::CLIP_DISTANCE0, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE1", glow::CLIP_DISTANCE0 + 1, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE2", glow::CLIP_DISTANCE0 + 2, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE3", glow::CLIP_DISTANCE0 + 3, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE4", glow::CLIP_DISTANCE0 + 4, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE5", glow::CLIP_DISTANCE0 + 5, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE6", glow::CLIP_DISTANCE0 + 6, DISTANCES, DRAWS),
    switch("GL_CLIP_DISTANCE7", glow::CLIP_DISTANCE0 + 7, DISTANCES, DRAWS),
    switch("GL_DEPTH_BOUNDS_TEST_EXT", 0x8890, In::Listed(&["GL_EXT_depth_bounds_test"]), DRAWS),
    switch("GL_RASTER_MULTISAMPLE_EXT", 0x9327, In::Listed(&["GL_EXT_raster_multisample"]), DRAWS),
    switch("GL_CONSERVATIVE_RASTERIZATION_NV", 0x9346, In::Listed(&["GL_NV_conservative_raster"]), DRAWS),
    switch("GL_CONSERVATIVE_RASTERIZATION_INTEL", 0x83FE, In::Listed(&["GL_INTEL_conservative_rasterization"]), DRAWS),
    switch("GL_FRAGMENT_COVERAGE_TO_COLOR_NV", 0x92DD, In::Listed(&["GL_NV_fragment_coverage_to_color"]), DRAWS),
    switch("GL_SHADING_RATE_IMAGE_NV", 0x9563, In::Listed(&["GL_NV_shading_rate_image"]), DRAWS),
    switch("GL_SCISSOR_TEST_EXCLUSIVE_NV", 0x9555, In::Listed(&["GL_NV_scissor_exclusive"]), DRAWS | CLEARS),
    switch("GL_REPRESENTATIVE_FRAGMENT_TEST_NV", 0x937F, In::Listed(&["GL_NV_representative_fragment_test"]), DRAWS),
    row("GL_CLAMP_READ_COLOR", DESKTOP, READS, Setting::Clamp(glow::CLAMP_READ_COLOR), FIXED_ONLY, FIXED_ONLY),
    row("GL_PACK_ALIGNMENT", In::All, READS, Setting::PixelStore(glow::PACK_ALIGNMENT), 1.0, 4.0),
    store("GL_PACK_ROW_LENGTH", glow::PACK_ROW_LENGTH, In::All, READS),
    store("GL_PACK_SKIP_ROWS", glow::PACK_SKIP_ROWS, In::All, READS),
    store("GL_PACK_SKIP_PIXELS", glow::PACK_SKIP_PIXELS, In::All, READS),
    store("GL_PACK_SWAP_BYTES", glow::PACK_SWAP_BYTES, DESKTOP, READS),
    store("GL_PACK_LSB_FIRST", glow::PACK_LSB_FIRST, DESKTOP, READS),
    store("GL_PACK_INVERT_MESA", 0x8758, In::Listed(&["GL_MESA_pack_invert"]), READS),
    store("GL_PACK_REVERSE_ROW_ORDER_ANGLE", 0x93A4, In::Listed(&["GL_ANGLE_pack_reverse_row_order"]), READS),
    row("GL_UNPACK_ALIGNMENT", In::All, UPLOADS, Setting::PixelStore(glow::UNPACK_ALIGNMENT), 1.0, 4.0),
    store("GL_UNPACK_ROW_LENGTH", glow::UNPACK_ROW_LENGTH, In::All, UPLOADS),
    store("GL_UNPACK_SKIP_ROWS", glow::UNPACK_SKIP_ROWS, In::All, UPLOADS),
    store("GL_UNPACK_SKIP_PIXELS", glow::UNPACK_SKIP_PIXELS, In::All, UPLOADS),
    store("GL_UNPACK_SWAP_BYTES", glow::UNPACK_SWAP_BYTES, DESKTOP, UPLOADS),
    store("GL_UNPACK_LSB_FIRST", glow::UNPACK_LSB_FIRST, DESKTOP, UPLOADS),
    transfer("GL_MAP_COLOR", 0x0D10, In::Compatibility, 0.0),
    transfer("GL_RED_SCALE", 0x0D14, In::Compatibility, 1.0),
    transfer("GL_GREEN_SCALE", 0x0D18, In::Compatibility, 1.0),
    transfer("GL_BLUE_SCALE", 0x0D1A, In::Compatibility, 1.0),
    transfer("GL_ALPHA_SCALE", 0x0D1C, In::Compatibility, 1.0),
    transfer("GL_RED_BIAS", 0x0D15, In::Compatibility, 0.0),
    transfer("GL_GREEN_BIAS", 0x0D19, In::Compatibility, 0.0),
    transfer("GL_BLUE_BIAS", 0x0D1B, In::Compatibility, 0.0),
    transfer("GL_ALPHA_BIAS", 0x0D1D, In::Compatibility, 0.0),
    switch("GL_COLOR_TABLE", 0x80D0, In::Imaging, IMAGE),
    switch("GL_POST_CONVOLUTION_COLOR_TABLE", 0x80D1, In::Imaging, IMAGE),
    switch("GL_POST_COLOR_MATRIX_COLOR_TABLE", 0x80D2, In::Imaging, IMAGE),
    switch("GL_CONVOLUTION_2D", 0x8011, In::Imaging, IMAGE),
    switch("GL_SEPARABLE_2D", 0x8012, In::Imaging, IMAGE),
    switch("GL_HISTOGRAM", 0x8024, In::Imaging, IMAGE),
    switch("GL_MINMAX", 0x802E, In::Imaging, IMAGE),
    transfer("GL_POST_COLOR_MATRIX_RED_SCALE", 0x80B4, In::Imaging, 1.0),
    transfer("GL_POST_COLOR_MATRIX_GREEN_SCALE", 0x80B5, In::Imaging, 1.0),
    transfer("GL_POST_COLOR_MATRIX_BLUE_SCALE", 0x80B6, In::Imaging, 1.0),
    transfer("GL_POST_COLOR_MATRIX_ALPHA_SCALE", 0x80B7, In::Imaging, 1.0),
    transfer("GL_POST_COLOR_MATRIX_RED_BIAS", 0x80B8, In::Imaging, 0.0),
    transfer("GL_POST_COLOR_MATRIX_GREEN_BIAS", 0x80B9, In::Imaging, 0.0),
    transfer("GL_POST_COLOR_MATRIX_BLUE_BIAS", 0x80BA, In::Imaging, 0.0),
    transfer("GL_POST_COLOR_MATRIX_ALPHA_BIAS", 0x80BB, In::Imaging, 0.0),
    row("GL_QUERY_BUFFER_BINDING", In::Since((4, 4), NEVER), QUERIES, Setting::QueryBuffer, 0.0, 0.0),
    // With the following states, calls are rejected.
    refused("GL_LIST_INDEX", LIST_INDEX, In::Compatibility, LISTED, &[0.0]),
    refused("GL_RENDER_MODE", 0x0C40, In::Compatibility, DRAWS | CLEARS, &[RENDER]),
    refused(
        "GL_COLOR_MATRIX",
        0x80B1,
        In::Imaging,
        IMAGE,
        &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ),
    refused("GL_WINDOW_RECTANGLE_MODE_EXT", 0x8F13, RECTANGLES, DRAWS | CLEARS, &[EXCLUSIVE]),
    refused("GL_NUM_WINDOW_RECTANGLES_EXT", 0x8F15, RECTANGLES, DRAWS | CLEARS, &[0.0]),
    refused("GL_PRIMITIVE_BOUNDING_BOX", 0x92BE, BOXES, DRAWS, &[-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    row("GL_VIEWPORT_SWIZZLE_NV", In::Listed(&["GL_NV_viewport_swizzle"]), DRAWS, Setting::Swizzle, 0.0, 0.0),
    refused("GL_POLYGON_MODE_NV", glow::POLYGON_MODE, In::EsWith("GL_NV_polygon_mode"), DRAWS, &[glow::FILL as f32]),
    refused("GL_SHADING_RATE_QCOM", 0x96A4, In::Listed(&["GL_QCOM_shading_rate"]), DRAWS, &[EACH_PIXEL]),
    refused("GL_SHADING_RATE_EXT", 0x96D0, In::Listed(&["GL_EXT_fragment_shading_rate"]), DRAWS, &[EACH_PIXEL]),
];

/// The rows of states that a context has.
#[derive(Default)]
pub(crate) struct HostStates(Vec<&'static StateRow>);

impl HostStates {
    /// Queries the current context. States that the driver cannot report are omitted.
    pub(crate) fn query(gl: &glow::Context) -> Self {
        // SAFETY: the context is current; every supported version has profiles.
        let core = gl.version().is_embedded
            || unsafe { gl.get_parameter_i32(glow::CONTEXT_PROFILE_MASK) as u32 } & glow::CONTEXT_CORE_PROFILE_BIT != 0;
        // Removes errors that other code left behind; a driver keeps a few.
        // SAFETY: the context is current.
        while unsafe { !matches!(gl.get_error(), glow::NO_ERROR | glow::CONTEXT_LOST) } {}
        let told = |row: &&StateRow| {
            row.read(gl);
            // SAFETY: the context is current.
            unsafe { gl.get_error() == glow::NO_ERROR }
        };
        Self(STATES.iter().filter(|row| row.known.has(gl, core)).filter(told).collect())
    }

    /// True where the context has display lists.
    pub(crate) fn has_lists(&self) -> bool {
        self.of(LISTED).next().is_some()
    }

    pub(crate) fn of(&self, calls: Calls) -> impl Iterator<Item = &'static StateRow> {
        self.0.iter().copied().filter(move |row| row.calls & calls != 0)
    }
}

/// Rejects calls while a display list is being compiled; `has_lists` says that the context has them. It must be
/// current.
pub(crate) fn check_lists(gl: &glow::Context, has_lists: bool) -> Result<()> {
    // SAFETY: the context is current and has the state.
    if has_lists && unsafe { gl.get_parameter_i32(LIST_INDEX) } != 0 {
        return Err(refusal("GL_LIST_INDEX"));
    }
    Ok(())
}

pub(crate) fn refusal(name: &str) -> Error {
    Error::refused(format!(
        "the context's {name} is not as in a new context, which would affect this call; reset it before the call"
    ))
}

impl StateRow {
    /// Reads the state. The context must be current and have it.
    pub(crate) fn read(&self, gl: &glow::Context) -> f64 {
        // SAFETY: the context is current and has the state; arrays are as long as the state is.
        unsafe {
            match self.setting {
                Setting::Switch(switch) => f64::from(u8::from(gl.is_enabled(switch))),
                Setting::PixelStore(name) | Setting::Clamp(name) => gl.get_parameter_i32(name).into(),
                Setting::PixelTransfer(name) => gl.get_parameter_f32(name).into(),
                Setting::ColorMask => color_mask(gl).into(),
                Setting::PolygonMode => polygon_mode(gl).into(),
                Setting::QueryBuffer => gl.get_parameter_i32(glow::QUERY_BUFFER_BINDING).into(),
                Setting::Feedback => f64::from(u8::from(feeds_back(gl))),
                Setting::Refused(name, fine) => {
                    // A driver that cannot report the state leaves the array unchanged.
                    let mut found = [f32::NAN; 16];
                    gl.get_parameter_f32_slice(name, &mut found);
                    f64::from(u8::from(found.iter().zip(fine).any(|(found, fine)| !found.is_nan() && found != fine)))
                }
                Setting::Swizzle => {
                    let same = |axis| gl.get_parameter_indexed_i32(SWIZZLE_X + axis, 0) as u32 == POSITIVE_X + 2 * axis;
                    f64::from(u8::from(!(0..4).all(same)))
                }
            }
        }
    }
}

/// True while transform feedback records. The context must be current and able to pause it.
pub(crate) fn feeds_back(gl: &glow::Context) -> bool {
    // SAFETY: the context is current, and of OpenGL 4.0 or OpenGL ES 3.0.
    unsafe {
        gl.get_parameter_bool(glow::TRANSFORM_FEEDBACK_ACTIVE)
            && !gl.get_parameter_bool(glow::TRANSFORM_FEEDBACK_PAUSED)
    }
}

/// Returns the colour mask of draw buffer 0, red in the lowest bit. The context must be current.
fn color_mask(gl: &glow::Context) -> u8 {
    // SAFETY: the context is current; the mask is four values.
    let mask = unsafe { gl.get_parameter_bool_array::<4>(glow::COLOR_WRITEMASK) };
    mask.iter().rev().fold(0, |bits, on| bits << 1 | u8::from(*on))
}

/// Returns the mode of the front plus, times [`SIDES`], that of the back. The context must be current and have modes.
fn polygon_mode(gl: &glow::Context) -> u32 {
    let mut modes = [0; 2];
    // SAFETY: the context is current; the state is two integers, or one in the core profile.
    unsafe { gl.get_parameter_i32_slice(glow::POLYGON_MODE, &mut modes) };
    let [front, back] = modes.map(i32::cast_unsigned);
    front + if back == 0 { front } else { back } * SIDES
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const PAGE: &str = include_str!("../../../../../docs/opengl-state.md");

    /// Names in the first column of the tables between two headings.
    fn listed(heading: &str) -> BTreeSet<&'static str> {
        let section = PAGE.split("\n## ").find_map(|section| section.strip_prefix(heading)).unwrap();
        let cells = section.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
        let names = cells.flat_map(|cell| cell.split('`').filter(|name| name.starts_with("GL_")));
        // Another name for the same state.
        names.filter(|name| *name != "GL_CLIP_PLANE0").collect()
    }

    #[test]
    fn the_page_lists_every_row_and_no_other() {
        let of = |set: bool| {
            let is_set = |row: &&StateRow| !matches!(row.setting, Setting::Refused(..) | Setting::Swizzle);
            STATES.iter().filter(|row| is_set(row) == set).map(|row| row.name).collect::<BTreeSet<_>>()
        };
        assert_eq!(of(true), listed("Set aside during a call"));
        assert_eq!(of(false), listed("Refused"));
        assert_eq!(of(true).len() + of(false).len(), STATES.len(), "no row is there twice");
        assert!(listed("Cannot matter").iter().all(|name| STATES.iter().all(|row| row.name != *name)));
    }
}
