//! Texts of Shadertoy that run as compute shaders, too: both have the same pixels, and the picture never depends on which
//! one runs.

use crate::gl::{DrawInputs, Gl, Program as Shader, Texture};
use crate::input::uniforms;
use crate::log::Origin;
use crate::program::Program;
use crate::slider::Slider;
use crate::suite::worked::worked;
use crate::suite::{SIZE, folder};
use crate::text::{TRIANGLE, as_compute};
use pixelferry::{DisplayChoice, open_headless};
use pixelferry_play::{Moment, PlayError, Wishes};
use pixelferry_testing::{Need, need};
use std::path::Path;

/// OpenGL with compute shaders, on this machine's first display.
fn opened() -> Option<Gl> {
    let screen = need(Need::Egl, open_headless(DisplayChoice::Gl))?;
    let gl = Gl::new(screen.gl().cloned().unwrap());
    if gl.display().version() < (4, 3) {
        println!("SKIPPED: OpenGL {:?} has no compute shaders", gl.display().version());
        return None;
    }
    Some(gl)
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
    let text = program.passes.last().unwrap().text.clone();
    let version = gl.versions(true).next().unwrap();
    let stages = [TRIANGLE, &text].map(|text| format!("{version}{text}"));
    let fault = |_, log: String| PlayError::Faults(Origin::of(file.into()).faults(&log, &text));
    BuiltText { shader: gl.program([&stages[0], &stages[1]], false, fault).unwrap(), text, sliders: program.sliders }
}

/// Draws a frame, and returns its pixels.
fn drawn(gl: &Gl, built: &BuiltText, into: &Texture, time: f32, is_picture: bool) -> Vec<u8> {
    let moment = Moment { time, frame: (time * 60.0) as i32, ..Moment::default() };
    let mut numbers = uniforms(&moment, SIZE);
    numbers.push(("shadertoy_out_opaque", vec![f32::from(u8::from(is_picture))]));
    numbers.extend(built.sliders.iter().map(|slider| (slider.name.as_str(), vec![slider.value])));
    gl.draw(&built.shader, into, &DrawInputs { textures: Vec::new(), numbers, is_picture }).unwrap();
    into.read_pixels().unwrap()
}

/// What texts do that a compute shader could do differently.
const CASES: [(&str, &str); 6] = [
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
    ("time", "void mainImage(out vec4 c, in vec2 p) { c = vec4(fract(iTime), fract(0.1 * float(iFrame)), p / 99.0); }"),
];

#[test]
fn compute_shaders_of_texts_have_the_same_pixels() {
    let Some(gl) = opened() else { return };
    let mut files: Vec<_> = ["julia", "plasma", "rings", "spheres", "truchet", "clouds", "others/cogs"]
        .iter()
        .map(|name| worked(&format!("{name}.glsl")))
        .collect();
    for (name, text) in CASES {
        let file = folder("rivals").join(format!("{name}.glsl"));
        std::fs::write(&file, text).unwrap();
        files.push(file);
    }
    for (file, is_float) in files.iter().flat_map(|file| [(file, false), (file, true)]) {
        let mut built = built(&gl, file);
        let (alone, both) = (gl.texture(SIZE, is_float).unwrap(), gl.texture(SIZE, is_float).unwrap());
        let expected: Vec<_> = (0..9).map(|n| drawn(&gl, &built, &alone, n as f32 / 4.0, !is_float)).collect();
        gl.add_rival(&mut built.shader, &as_compute(&built.text));
        assert!(built.shader.has_rival(), "{} is no compute shader", file.display());
        for (n, expected) in expected.iter().enumerate() {
            let shown = drawn(&gl, &built, &both, n as f32 / 4.0, !is_float);
            let what = format!("{}, frame {n}, floats: {is_float}", file.display());
            if is_float {
                let numbers = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes);
                let off = numbers(&shown).into_iter().zip(numbers(expected)).filter(|(a, b)| (a - b).abs() > 1e-2);
                assert!(off.count() <= shown.len() / 4 / 500, "{what}");
            } else {
                let off = shown.iter().zip(expected).filter(|(a, b)| a.abs_diff(**b) > 1).count();
                assert!(off <= shown.len() / 500, "{what}: {off} differ");
            }
        }
        assert!(built.shader.has_rival(), "{}: other pixels were seen", file.display());
    }
}

/// A rival with another picture is never shown, whether it is faster or not.
#[test]
fn a_compute_shader_with_other_pixels_is_dropped() {
    let Some(gl) = opened() else { return };
    let mut built = built(&gl, &worked("spheres.glsl"));
    let other = as_compute(&built.text).replace(
        "imageStore(shadertoy_out_image, ivec2(gl_GlobalInvocationID), shadertoy_out_color)",
        "imageStore(shadertoy_out_image, ivec2(gl_GlobalInvocationID), shadertoy_out_color + 0.02)",
    );
    let (alone, both) = (gl.texture(SIZE, false).unwrap(), gl.texture(SIZE, false).unwrap());
    let expected: Vec<_> = (0..9).map(|n| drawn(&gl, &built, &alone, n as f32, true)).collect();
    gl.add_rival(&mut built.shader, &other);
    assert!(built.shader.has_rival());
    let shown: Vec<_> = (0..9).map(|n| drawn(&gl, &built, &both, n as f32, true)).collect();
    assert!(shown == expected, "the other picture was shown");
}

/// Texts with derivatives need an extension, and pixels can only be discarded by a fragment shader.
#[test]
fn texts_that_only_fragment_shaders_can_run_have_no_rival() {
    let Some(gl) = opened() else { return };
    let file = folder("rivals").join("discards.glsl");
    std::fs::write(&file, "void mainImage(out vec4 c, in vec2 p) { if (p.x < 9.0) discard; c = vec4(1.0); }").unwrap();
    let mut built = built(&gl, &file);
    gl.add_rival(&mut built.shader, &as_compute(&built.text));
    assert!(!built.shader.has_rival());
}
