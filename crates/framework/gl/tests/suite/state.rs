//! An engine's state: set to unusual values, and compared before and after a call.

use crate::suite::host_state::rows::{Setting, When, pixels, switches};
use glow::HasContext as _;
use std::collections::BTreeMap;

/// Single integers.
const INTEGERS: &[(&str, u32)] = &[
    ("unpack buffer", glow::PIXEL_UNPACK_BUFFER_BINDING),
    ("pack buffer", glow::PIXEL_PACK_BUFFER_BINDING),
    ("array buffer", glow::ARRAY_BUFFER_BINDING),
    ("element buffer", glow::ELEMENT_ARRAY_BUFFER_BINDING),
    ("copy read buffer", glow::COPY_READ_BUFFER_BINDING),
    ("copy write buffer", glow::COPY_WRITE_BUFFER_BINDING),
    ("texture buffer's buffer", glow::TEXTURE_BUFFER_BINDING),
    ("uniform buffer", glow::UNIFORM_BUFFER_BINDING),
    ("storage buffer", glow::SHADER_STORAGE_BUFFER_BINDING),
    ("active texture", glow::ACTIVE_TEXTURE),
    ("program", glow::CURRENT_PROGRAM),
    ("vertex array", glow::VERTEX_ARRAY_BINDING),
    ("draw framebuffer", glow::DRAW_FRAMEBUFFER_BINDING),
    ("read framebuffer", glow::READ_FRAMEBUFFER_BINDING),
    ("renderbuffer", glow::RENDERBUFFER_BINDING),
    ("depth func", glow::DEPTH_FUNC),
    ("depth mask", glow::DEPTH_WRITEMASK),
    ("cull face", glow::CULL_FACE_MODE),
    ("front face", glow::FRONT_FACE),
    ("blend source", glow::BLEND_SRC_RGB),
    ("blend destination", glow::BLEND_DST_ALPHA),
    ("blend equation", glow::BLEND_EQUATION_RGB),
    ("stencil func", glow::STENCIL_FUNC),
    ("draw buffer", glow::DRAW_BUFFER0),
    ("read buffer", glow::READ_BUFFER),
    ("logic op", glow::LOGIC_OP_MODE),
];

/// Arrays of integers, with their length.
const ARRAYS: &[(&str, u32, usize)] = &[
    ("viewport", glow::VIEWPORT, 4),
    ("scissor box", glow::SCISSOR_BOX, 4),
    ("color mask", glow::COLOR_WRITEMASK, 4),
    ("polygon mode", glow::POLYGON_MODE, 2),
];

/// State of an image unit.
const IMAGE_UNIT: &[(&str, u32)] = &[
    ("texture", glow::IMAGE_BINDING_NAME),
    ("level", glow::IMAGE_BINDING_LEVEL),
    ("layered", glow::IMAGE_BINDING_LAYERED),
    ("layer", glow::IMAGE_BINDING_LAYER),
    ("access", glow::IMAGE_BINDING_ACCESS),
    ("format", glow::IMAGE_BINDING_FORMAT),
];

/// Blocks that are looked at.
const BLOCKS: u32 = 6;

/// State of a block binding: buffer, start and size.
const BLOCK: &[(&str, [u32; 3])] = &[
    ("uniform", [glow::UNIFORM_BUFFER_BINDING, glow::UNIFORM_BUFFER_START, glow::UNIFORM_BUFFER_SIZE]),
    (
        "storage",
        [glow::SHADER_STORAGE_BUFFER_BINDING, glow::SHADER_STORAGE_BUFFER_START, glow::SHADER_STORAGE_BUFFER_SIZE],
    ),
];

pub type Snapshot = BTreeMap<String, Vec<i64>>;

/// True where the context has what was just asked for; all of it in desktop OpenGL.
fn has(gl: &glow::Context, name: &str) -> bool {
    // SAFETY: the engine's context is current.
    let code = unsafe { gl.get_error() };
    let version = gl.version();
    let complete = !version.is_embedded && (version.major, version.minor) >= (4, 5);
    assert!(code == glow::NO_ERROR || !complete, "no such state: {name}");
    code == glow::NO_ERROR
}

pub fn snapshot(gl: &glow::Context) -> Snapshot {
    let mut all = single_values(gl);
    // SAFETY: the engine's context is current; every name is of GL 4.5, and asking OpenGL ES for one that it lacks is an error.
    unsafe {
        // Other draw buffers and viewports are the engine's alone.
        for index in 1..4 {
            for (name, parameter) in [
                ("viewport", glow::VIEWPORT),
                ("color mask", glow::COLOR_WRITEMASK),
                ("blend", glow::BLEND),
                ("scissor box", glow::SCISSOR_BOX),
            ] {
                let values = crate::suite::engine::integers(parameter, index).map(i64::from);
                if has(gl, name) {
                    all.insert(format!("{name} {index}"), values.to_vec());
                }
            }
        }
        for (unit, (name, parameter)) in (0..3).flat_map(|unit| IMAGE_UNIT.iter().map(move |state| (unit, state))) {
            let value = gl.get_parameter_indexed_i32(*parameter, unit);
            if has(gl, name) {
                all.insert(format!("image unit {unit}: {name}"), vec![value.into()]);
            }
        }
        for (index, (name, kind)) in (0..BLOCKS).flat_map(|index| BLOCK.iter().map(move |kind| (index, kind))) {
            let buffer = gl.get_parameter_indexed_i32(kind[0], index);
            let range = [kind[1], kind[2]].map(|parameter| gl.get_parameter_indexed_i64(parameter, index));
            if has(gl, name) {
                all.insert(format!("{name} block {index}"), vec![buffer.into(), range[0], range[1]]);
            }
            while gl.get_error() != glow::NO_ERROR {}
        }
        let active = gl.get_parameter_i32(glow::ACTIVE_TEXTURE) as u32;
        for unit in 0..4 {
            gl.active_texture(glow::TEXTURE0 + unit);
            let texture = gl.get_parameter_i32(glow::TEXTURE_BINDING_2D);
            let buffer = gl.get_parameter_i32(glow::TEXTURE_BINDING_BUFFER);
            let buffer = if has(gl, "buffer texture") { buffer } else { 0 };
            let sampler = gl.get_parameter_i32(glow::SAMPLER_BINDING);
            all.insert(format!("unit {unit}"), vec![texture.into(), buffer.into(), sampler.into()]);
        }
        gl.active_texture(active);
    }
    all
}

const STAGES: [(u32, &str); 2] = [
    (glow::VERTEX_SHADER, "void main() { gl_Position = vec4(0.0); }"),
    (glow::FRAGMENT_SHADER, "precision mediump float;\nout vec4 color;\nvoid main() { color = vec4(0.5); }"),
];

/// Switches and parameters of pixels that every context of its version has.
fn settings(gl: &glow::Context) -> impl Iterator<Item = Setting> {
    let known = |when| !matches!(when, When::Compatibility | When::Listed(_) | When::CompatibilityWith(_));
    let rows = switches().into_iter().chain(pixels());
    rows.filter(move |row| known(row.when) && row.when.has(gl, false)).map(|row| row.setting)
}

/// Everything away from its default.
pub fn make_unusual(gl: &glow::Context, on: bool, several_viewports: bool) {
    // SAFETY: the engine's context is current and all names are of it.
    unsafe {
        let desktop = !gl.version().is_embedded;
        if desktop {
            gl.polygon_mode(glow::FRONT_AND_BACK, glow::LINE);
        }
        for setting in settings(gl) {
            match setting {
                Setting::Switch(switch, _) if on => gl.enable(switch),
                Setting::Switch(switch, _) => gl.disable(switch),
                Setting::Store(parameter, value, _) => gl.pixel_store_i32(parameter, value),
                _ => {}
            }
        }
        let vertex_array = gl.create_vertex_array().unwrap();
        gl.bind_vertex_array(Some(vertex_array));
        for (target, index) in [glow::UNIFORM_BUFFER, glow::SHADER_STORAGE_BUFFER]
            .into_iter()
            .flat_map(|target| (0..BLOCKS).map(move |index| (target, index)))
        {
            let buffer = gl.create_buffer().unwrap();
            gl.bind_buffer(target, Some(buffer));
            gl.buffer_data_size(target, 2048, glow::STATIC_DRAW);
            match index % 2 {
                0 => gl.bind_buffer_range(target, index, Some(buffer), 512, 256 + 16 * index as i32),
                _ => gl.bind_buffer_base(target, index, Some(buffer)),
            }
        }
        for target in [
            glow::PIXEL_UNPACK_BUFFER,
            glow::PIXEL_PACK_BUFFER,
            glow::ARRAY_BUFFER,
            glow::ELEMENT_ARRAY_BUFFER,
            glow::COPY_READ_BUFFER,
            glow::COPY_WRITE_BUFFER,
            glow::TEXTURE_BUFFER,
            glow::UNIFORM_BUFFER,
            glow::SHADER_STORAGE_BUFFER,
        ] {
            let buffer = gl.create_buffer().unwrap();
            gl.bind_buffer(target, Some(buffer));
            gl.buffer_data_size(target, 64, glow::STATIC_DRAW);
        }
        for unit in 0..4 {
            gl.active_texture(glow::TEXTURE0 + unit);
            gl.bind_texture(glow::TEXTURE_2D, Some(gl.create_texture().unwrap()));
            gl.bind_texture(glow::TEXTURE_BUFFER, Some(gl.create_texture().unwrap()));
            let sampler = gl.create_sampler().unwrap();
            gl.sampler_parameter_i32(sampler, glow::TEXTURE_MIN_FILTER, glow::LINEAR_MIPMAP_LINEAR as i32);
            gl.bind_sampler(unit, Some(sampler));
        }
        for unit in 0..3 {
            let texture = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D_ARRAY, Some(texture));
            gl.tex_storage_3d(glow::TEXTURE_2D_ARRAY, 2, glow::RGBA16F, 4, 4, 3);
            gl.bind_image_texture(unit, Some(texture), 1, on, 2, glow::READ_WRITE, glow::RGBA16UI);
        }
        gl.active_texture(glow::TEXTURE0 + 2);
        let program = gl.create_program().unwrap();
        let version = if desktop { "330 core" } else { "300 es" };
        for (stage, text) in STAGES {
            let shader = gl.create_shader(stage).unwrap();
            gl.shader_source(shader, &format!("#version {version}\n{text}"));
            gl.compile_shader(shader);
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        assert!(gl.get_program_link_status(program));
        gl.use_program(Some(program));
        gl.enable_draw_buffer(glow::BLEND, 2);
        gl.disable_draw_buffer(glow::BLEND, 3);
        gl.viewport(11, 12, 13, 14);
        if several_viewports {
            // Mesa writes the clamped values back, so a constant would be written to.
            gl.viewport_f32_slice(2, 1, &std::hint::black_box([[1.0, 2.0, 3.0, 4.0]]));
        }
        gl.scissor(1, 2, 3, 4);
        gl.color_mask(true, false, true, false);
        gl.depth_func(glow::GREATER);
        gl.depth_mask(false);
        gl.cull_face(glow::FRONT);
        gl.front_face(glow::CW);
        gl.blend_func(glow::ONE, glow::DST_COLOR);
        gl.blend_equation(glow::FUNC_SUBTRACT);
        // OpenGL ES knows only some of it.
        while !desktop && gl.get_error() != glow::NO_ERROR {}
    }
}

/// A framebuffer of the engine's for drawing, another for reading.
pub fn engine_framebuffers(gl: &glow::Context) -> glow::Framebuffer {
    // SAFETY: as above.
    unsafe {
        let make = || {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, 64, 64);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let attachment = glow::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, attachment, glow::TEXTURE_2D, Some(texture), 0);
            framebuffer
        };
        let (draw, read) = (make(), make());
        gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(draw));
        gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(read));
        draw
    }
}

/// Integers, switches and arrays.
fn single_values(gl: &glow::Context) -> Snapshot {
    let mut all = Snapshot::new();
    // SAFETY: the engine's context is current; asking for state that it lacks is an error, which is taken.
    unsafe {
        for (name, parameter) in INTEGERS {
            let value = gl.get_parameter_i32(*parameter).into();
            if has(gl, name) {
                all.insert((*name).into(), vec![value]);
            }
        }
        for (name, parameter, len) in ARRAYS {
            let mut values = [0; 4];
            gl.get_parameter_i32_slice(*parameter, &mut values);
            if has(gl, name) {
                all.insert((*name).into(), values[..*len].iter().map(|v| i64::from(*v)).collect());
            }
        }
        for setting in settings(gl) {
            let (name, value) = match setting {
                Setting::Switch(switch, _) => (switch, gl.is_enabled(switch).into()),
                Setting::Store(parameter, ..) => (parameter, gl.get_parameter_i32(parameter).into()),
                _ => continue,
            };
            if has(gl, &format!("{name:#x}")) {
                all.insert(format!("{name:#x}"), vec![value]);
            }
        }
    }
    all
}

/// State of which no program's own is a part.
pub fn shallow_snapshot(gl: &glow::Context) -> Snapshot {
    let mut all = single_values(gl);
    for index in 1..4 {
        // SAFETY: the engine's context is current.
        let buffer = unsafe { gl.get_parameter_i32(glow::DRAW_BUFFER0 + index) };
        all.insert(format!("draw buffer {index}"), vec![buffer.into()]);
    }
    all
}

/// Runs `f` and compares the state before and after.
pub fn unchanged<T>(gl: &glow::Context, what: &str, f: impl FnOnce() -> T) -> T {
    unchanged_by(gl, what, snapshot, f)
}

/// [`unchanged`] by a snapshot of these.
pub fn unchanged_by<T>(
    gl: &glow::Context,
    what: &str,
    snapshot: impl Fn(&glow::Context) -> Snapshot,
    f: impl FnOnce() -> T,
) -> T {
    let before = snapshot(gl);
    let value = f();
    // SAFETY: the engine's context is current.
    assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{what} left an error");
    let after = snapshot(gl);
    for (name, value) in &before {
        assert_eq!(value, &after[name], "{what} changed {name}");
    }
    value
}
