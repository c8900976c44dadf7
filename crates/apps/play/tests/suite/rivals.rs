//! Texts that run as compute shaders, too: both have the same pixels, and the picture never depends on which
//! one runs.

use crate::error::Origin;
use crate::gl::{DrawInputs, Gl, Program as Shader, RivalProgram, Texture};
use crate::input::{Slider, uniforms};
use crate::program::Program;
use crate::suite::worked::worked;
use crate::suite::{SIZE, folder};
use crate::text::{TRIANGLE, as_compute};
use pixelferry::{Display as _, DisplayChoice, open_headless};
use pixelferry_play::{Moment, PlayError, Wishes};
use pixelferry_testing::{Need, need};
use std::path::Path;
use std::time::Duration;

/// OpenGL with compute shaders, on this machine's first display.
fn opened() -> Option<Gl> {
    let screen = need(Need::Egl, open_headless(DisplayChoice::Gl))?;
    let gl = screen.gl().cloned().unwrap();
    let version = gl.version();
    let has_compute = if version >= (4, 5) { Ok(()) } else { Err(format!("OpenGL {version:?} has no GLSL 4.50")) };
    need(Need::Egl, has_compute)?;
    Some(Gl(gl))
}

impl Shader {
    /// Returns whether there is a compute shader whose pixels were never found to differ.
    fn has_rival(&self) -> bool {
        let is_same = |rival: &RivalProgram| rival.rounds.borrow().values().all(|of| of.took[0] < Duration::MAX);
        self.rival.as_ref().is_some_and(|rival| is_same(rival))
    }
}

impl Gl {
    /// Computes a texture with the compute shader.
    fn store(&self, shader: &Shader, into: &Texture, inputs: &DrawInputs<'_>) -> Result<(), PlayError> {
        self.run(shader, (&shader.rival.as_ref().unwrap().stores, true), into, inputs)
    }

    /// Gives a text this compute shader.
    fn add(&self, built: &mut BuiltText, rival: &str) {
        self.add_rival(&mut built.shader, rival, [TRIANGLE, &built.text]);
        assert!(built.shader.has_rival(), "it is no compute shader:\n{rival}");
    }
}

/// A text as a fragment shader.
struct BuiltText {
    shader: Shader,
    text: String,
    sliders: Vec<Slider>,
}

/// Builds the picture's pass of a file.
fn built(gl: &Gl, file: &Path) -> BuiltText {
    let program = Program::read(file, &Wishes::default()).unwrap();
    let pass = program.passes.last().unwrap();
    let text = pass.text.clone();
    let version = gl.versions(pass.fragment.is_strict).next().unwrap();
    let stages = [TRIANGLE, &text].map(|text| format!("{version}{text}"));
    let fault = |_, log: String| PlayError::Faults(Origin::of(file, &text).faults(&log, &text));
    BuiltText { shader: gl.program([&stages[0], &stages[1]], false, fault).unwrap(), text, sliders: program.sliders }
}

/// Computes a frame with this function of [`Gl`], and returns its pixels.
fn computed(
    (gl, built): (&Gl, &BuiltText),
    with: impl Fn(&Gl, &Shader, &Texture, &DrawInputs<'_>) -> Result<(), PlayError>,
    (into, time, is_picture): (&Texture, f32, bool),
) -> Vec<u8> {
    let moment = Moment { time, frame: (time * 60.0) as i32, ..Moment::default() };
    let mut numbers = uniforms(&moment, SIZE);
    numbers.push(("shadertoy_out_opaque", vec![f32::from(u8::from(is_picture))]));
    numbers.extend(built.sliders.iter().map(|slider| (slider.name.as_str(), vec![slider.value])));
    with(gl, &built.shader, into, &DrawInputs { textures: Vec::new(), numbers, is_picture, pass: 0 }).unwrap();
    into.read_pixels().unwrap()
}

/// What texts do that a compute shader could do differently.
const CASES: [(&str, &str); 8] = [
    (
        "place",
        "void mainImage(out vec4 c, in vec2 p) { c = vec4(gl_FragCoord.xy / iResolution.xy, p.x / 99.0, 0.25); }",
    ),
    ("assertion", "void mainImage(out vec4 c, in vec2 p) { c = vec4(0.5); st_assert(p.x < 40.0, 1); }"),
    ("limits", "void mainImage(out vec4 c, in vec2 p) { c = vec4(p.x - 20.0, -p.y, 0.1 * p.x, 2.0); }"),
    (
        "macros",
        "#define main() x()\n#define size 3\nvoid mainImage(out vec4 c, in vec2 p) { c = vec4(p.xyx / 99.0, size); }",
    ),
    ("globals", "float sum;\nvoid mainImage(out vec4 c, in vec2 p) { sum += p.x / 99.0; c = vec4(sum); }"),
    (
        "initialisers",
        "/*{ }*/ vec2 at = 0.5 * isf_FragNormCoord + gl_FragCoord.yx / 999.0; void main() { gl_FragColor = vec4(at, at); }",
    ),
    (
        "isf",
        "/*{ }*/ void main(void) { gl_FragColor = vec4(isf_FragNormCoord, gl_FragCoord.x / RENDERSIZE.x, TIME / 9.0); }",
    ),
    ("time", "void mainImage(out vec4 c, in vec2 p) { c = vec4(fract(iTime), fract(0.1 * float(iFrame)), p / 99.0); }"),
];

#[test]
fn compute_shaders_of_texts_have_the_same_pixels() {
    let Some(gl) = opened() else { return };
    let names = ["julia.glsl", "plasma.glsl", "rings.glsl", "spheres.glsl", "truchet.glsl", "clouds.glsl"];
    let mut files: Vec<_> = names.into_iter().chain(["others/cogs.glsl", "tiles.fs"]).map(worked).collect();
    for (name, text) in CASES {
        let kind = if text.starts_with("/*{") { "fs" } else { "glsl" };
        let file = folder("rivals").join(format!("{name}.{kind}"));
        std::fs::write(&file, text).unwrap();
        files.push(file);
    }
    for (file, is_float) in files.iter().flat_map(|file| [(file, false), (file, true)]) {
        let mut built = built(&gl, file);
        let texture = || gl.texture(SIZE, is_float).unwrap();
        let (alone, stored, both) = (texture(), texture(), texture());
        let frames = || (0..9).map(|n| n as f32 / 4.0);
        let expected: Vec<_> =
            frames().map(|time| computed((&gl, &built), Gl::draw, (&alone, time, !is_float))).collect();
        let rival = as_compute(&built.text).unwrap();
        gl.add(&mut built, &rival);
        for (time, expected) in frames().zip(&expected) {
            for pixels in [
                computed((&gl, &built), Gl::store, (&stored, time, !is_float)),
                computed((&gl, &built), Gl::draw, (&both, time, !is_float)),
            ] {
                let off = if is_float {
                    let numbers = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes);
                    let pairs = numbers(&pixels).into_iter().zip(numbers(expected));
                    4 * pairs
                        .filter(|(a, b)| a.to_bits() != b.to_bits() && !(0.0..=1e-2).contains(&(a - b).abs()))
                        .count()
                } else {
                    pixels.iter().zip(expected).filter(|(a, b)| a.abs_diff(**b) > 1).count()
                };
                assert!(off <= pixels.len() / 500, "{}, second {time}, floats: {is_float}: {off}", file.display());
            }
        }
        assert!(is_float || built.shader.has_rival(), "{}: other pixels were seen", file.display());
    }
}

/// A rival with another picture is never shown, whether it is faster or not.
#[test]
fn a_compute_shader_with_other_pixels_is_dropped() {
    let Some(gl) = opened() else { return };
    let mut built = built(&gl, &worked("spheres.glsl"));
    let own = as_compute(&built.text).unwrap();
    let other =
        own.replace("ivec2(gl_GlobalInvocationID), shadertoy_out_color)", "ivec2(gl_GlobalInvocationID), vec4(0.5))");
    assert_ne!(own, other);
    let (alone, both) = (gl.texture(SIZE, false).unwrap(), gl.texture(SIZE, false).unwrap());
    let expected: Vec<_> = (0..9).map(|n| computed((&gl, &built), Gl::draw, (&alone, n as f32, true))).collect();
    gl.add(&mut built, &other);
    let shown: Vec<_> = (0..9).map(|n| computed((&gl, &built), Gl::draw, (&both, n as f32, true))).collect();
    assert!(shown == expected, "the other picture was shown");
    assert!(!built.shader.has_rival());
}

/// A hash of large sines, whose digits depend on how a driver rounds.
const HASH: &str = "void mainImage(out vec4 c, in vec2 p) {
  c = vec4(fract(sin(dot(1.41421356 * (p + 1000.0), vec2(127.1, 311.7))) * 43758.5453));
}";

/// Where a text leaves its rounding open, the pixels of the precise fragment shader are right, too. The first frame
/// already has the picture that remains.
#[test]
fn a_compute_shader_with_the_pixels_of_the_precise_one_is_kept() {
    let Some(gl) = opened() else { return };
    let file = folder("rivals").join("hash.glsl");
    std::fs::write(&file, HASH).unwrap();
    let mut built = built(&gl, &file);
    let into = gl.texture(SIZE, false).unwrap();
    let drawn = computed((&gl, &built), Gl::draw, (&into, 0.0, true));
    let own = as_compute(&built.text).unwrap();
    let rival = own.replace("\nvec4 shadertoy_out_color,", "\nprecise vec4 shadertoy_out_color,");
    assert_ne!(own, rival);
    gl.add(&mut built, &rival);
    let stored = computed((&gl, &built), Gl::store, (&into, 0.0, true));
    let off: usize = stored.iter().zip(&drawn).map(|(a, b)| usize::from(a.abs_diff(*b))).sum();
    assert!(off > stored.len(), "this driver rounds both alike: {off}");
    let shown: Vec<_> = (0..9).map(|n| computed((&gl, &built), Gl::draw, (&into, n as f32, true))).collect();
    assert!(built.shader.has_rival(), "it was dropped");
    assert!([stored, drawn].contains(&shown[0]) && shown.iter().all(|frame| *frame == shown[0]));
}

/// Texts that only a fragment shader can run, and those that may differ between versions of GLSL.
#[test]
fn some_texts_have_no_compute_shader() {
    let Some(gl) = opened() else { return };
    assert!(!gl.has_rivals(false) || !gl.0.device().software);
    for (name, text, compiles) in [
        ("discards", "void mainImage(out vec4 c, in vec2 p) { if (p.x < 9.0) discard; c = vec4(1.0); }", Some(false)),
        ("versions", "void mainImage(out vec4 c, in vec2 p) { c = vec4(__VERSION__ / 999); }", None),
        ("plain", "void mainImage(out vec4 c, in vec2 p) { c = vec4(1.0); }", Some(true)),
    ] {
        let file = folder("rivals").join(format!("{name}.glsl"));
        std::fs::write(&file, text).unwrap();
        let mut built = built(&gl, &file);
        let text = as_compute(&built.text);
        let has = text.as_ref().map(|text| {
            gl.add_rival(&mut built.shader, text, [TRIANGLE, &built.text]);
            built.shader.has_rival()
        });
        assert_eq!(has, compiles, "{name}");
    }
}
