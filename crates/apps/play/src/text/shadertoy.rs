//! Shadertoy's shaders, unchanged between a prelude and a call of `mainImage`.
//!
//! Kernels have no samplers, so a sampler is a channel's number, and `texture` and similar functions read the channel's
//! memory: linear or nearest, clamped or repeated, one level. Derivatives (`dFdx`, `dFdy`, `fwidth`) are differences
//! within squares of two by two pixels, as in fragment shaders: `mainImage` also runs for the pixel beside it and the
//! one above or below, and the n-th call of a derivative uses the argument that the n-th call had there. Shaders
//! without derivatives pay nothing for this. Unsupported: cube maps, volumes, sound and the keyboard.

use super::parts::{bound, by_place, names};
use super::zeroed_text::ZeroedText;
use crate::input::{CHANNELS, PLACES};
use crate::log::{AddedText, COMMON, NOBODYS, Origin, line_mark};
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::{Slider, SliderKind};
use std::fmt::Write as _;

/// Name of the entry point that [`entry`] writes.
const ENTRY: &str = "pf_play";

/// Identifiers that are valid in GLSL ES 3.00 but reserved in GLSL 4.30.
const FREE: [&str; 3] = ["buffer", "shared", "precise"];

/// Names that a shader may not declare, with replacements of the same length, which keep columns.
const OURS: [(&str, &str); 2] = [("gl_FragColor", "pf_FragColor"), ("gl_FragCoord", "pf_FragCoord")];

/// Declares the inputs.
const INPUTS: &str = "vec3 iResolution;
float iTime; float iTimeDelta; float iFrameRate; int iFrame;
vec4 iMouse; vec4 iDate;
const float iSampleRate = 44100.0;
float iChannelTime[4]; vec3 iChannelResolution[4];
uvec4 pf_sizes; vec4 pf_FragCoord;
#define sampler2D int
#define iGlobalTime iTime
const int iChannel0 = 0; const int iChannel1 = 1; const int iChannel2 = 2; const int iChannel3 = 3;
";

/// Reads channels. Memory has the top row first, while shaders count from the bottom.
const TEXTURES: &str = "ivec2 pf_extent(int c) {
  uint size = pf_sizes[c & 3];
  return max(ivec2(int(size & 65535u), int(size >> 16u)), ivec2(1));
}
vec4 pf_texel(int c, ivec2 at) {
  ivec2 size = pf_extent(c);
  if (((PF_REPEAT >> c) & 1) != 0) at = ((at % size) + size) % size;
  at = clamp(at, ivec2(0), size - 1);
  return pf_load(c, (size.y - 1 - at.y) * size.x + at.x);
}
vec4 pf_sample(int c, vec2 at) {
  bool repeats = ((PF_REPEAT >> c) & 1) != 0;
  vec2 size = vec2(pf_extent(c));
  vec2 place = (repeats ? fract(at) : clamp(at, vec2(-1.0), vec2(2.0))) * size;
  if (((PF_LINEAR >> c) & 1) == 0) return pf_texel(c, ivec2(floor(place)));
  place -= 0.5;
  vec2 first = floor(place);
  vec2 part = place - first;
  ivec2 i = ivec2(first);
  vec4 low = mix(pf_texel(c, i), pf_texel(c, i + ivec2(1, 0)), part.x);
  vec4 high = mix(pf_texel(c, i + ivec2(0, 1)), pf_texel(c, i + ivec2(1, 1)), part.x);
  return mix(low, high, part.y);
}
vec4 pf_sample(int c, vec2 at, float bias) { return pf_sample(c, at); }
vec4 pf_sample_lod(int c, vec2 at, float level) { return pf_sample(c, at); }
vec4 pf_sample_grad(int c, vec2 at, vec2 across, vec2 up) { return pf_sample(c, at); }
vec4 pf_fetch(int c, ivec2 at, int level) { return pf_texel(c, at); }
ivec2 pf_sample_size(int c, int level) { return pf_extent(c); }
#define texture pf_sample
#define texture2D pf_sample
#define textureLod pf_sample_lod
#define texture2DLodEXT pf_sample_lod
#define textureGrad pf_sample_grad
#define texelFetch pf_fetch
#define textureSize pf_sample_size
";

/// Differences within the square; `pf_turn` 0 is the pixel itself, 1 the one beside it, 2 the one above or below.
const DERIVATIVES: &str = "#define PF_CALLS 16
int pf_turn = 0; int pf_call = 0; vec2 pf_way;
vec4 pf_beside[PF_CALLS]; vec4 pf_along[PF_CALLS];
vec4 pf_differ(vec4 v, int way) {
  int n = min(pf_call, PF_CALLS - 1);
  pf_call += 1;
  if (pf_turn == 1) { pf_beside[n] = v; return vec4(0.0); }
  if (pf_turn == 2) { pf_along[n] = v; return vec4(0.0); }
  if (way == 0) return pf_way.x * (pf_beside[n] - v);
  if (way == 1) return pf_way.y * (pf_along[n] - v);
  return abs(pf_beside[n] - v) + abs(pf_along[n] - v);
}
float pf_d(float v, int way) { return pf_differ(vec4(v, 0.0, 0.0, 0.0), way).x; }
vec2 pf_d(vec2 v, int way) { return pf_differ(vec4(v, 0.0, 0.0), way).xy; }
vec3 pf_d(vec3 v, int way) { return pf_differ(vec4(v, 0.0), way).xyz; }
vec4 pf_d(vec4 v, int way) { return pf_differ(v, way); }
#define dFdx(v) pf_d(v, 0)
#define dFdy(v) pf_d(v, 1)
#define fwidth(v) pf_d(v, 2)
";

/// Code around a shader of another language that makes it Shadertoy's.
#[derive(Default)]
pub struct TextWrapper {
    pub before: String,
    pub behind: &'static str,
}

/// Makes a pass of a shader.
pub fn pass(
    piece: &Piece,
    common: Option<&Piece>,
    sliders: &[Slider],
    language: PassLanguage,
    is_buffer: bool,
    around: &TextWrapper,
) -> Pass {
    let heeds_lines = language == PassLanguage::Glsl;
    let common_text = common.map(|piece| piece.text.as_str()).unwrap_or_default();
    let has_derivatives =
        ["dFdx", "dFdy", "fwidth"].iter().any(|name| names(&piece.text, name) || names(common_text, name));
    let mut text = if heeds_lines { line_mark(NOBODYS) } else { "#version 450 core\n".to_owned() };
    text += INPUTS;
    channels(&mut text, piece, heeds_lines);
    text += TEXTURES;
    if has_derivatives {
        text += DERIVATIVES;
    }
    for slider in sliders.iter().filter(|slider| !slider.name.contains('.')) {
        let _ = writeln!(text, "{} {};", type_of(slider.kind), slider.name);
    }
    text += &around.before;
    FREE.iter().for_each(|word| _ = writeln!(text, "#define {word} pf_{word}"));
    let mut origin = Origin::of(piece.file.clone());
    let mut globals = Vec::new();
    let mut follows = |piece: &Piece, first: u32| {
        let own = OURS.iter().fold(piece.text.clone(), |text, (theirs, ours)| text.replace(theirs, ours));
        let mut zeroed = ZeroedText::of(&own);
        globals.append(&mut zeroed.globals);
        let before = if heeds_lines { first } else { text.lines().count() as u32 };
        if heeds_lines {
            text += &line_mark(first);
        }
        text += &zeroed.text;
        text.push('\n');
        origin.added.extend(zeroed.added.into_iter().map(|added| AddedText { line: before + added.line, ..added }));
        before
    };
    let common = common.map(|piece| (piece.file.clone(), follows(piece, COMMON)));
    let before = follows(piece, 0);
    (origin.common, origin.before) = (common, before);
    if heeds_lines {
        text += &line_mark(NOBODYS);
    }
    text += around.behind;
    run(&mut text, sliders, has_derivatives.then_some(&globals), is_buffer);
    if heeds_lines {
        main(&mut text, piece, sliders);
    } else {
        text += "void main() {}\n";
    }
    let kernel = if heeds_lines { "main" } else { ENTRY }.to_owned();
    let params = by_place(sliders, bound(piece));
    Pass { kernel, language, text, params, buffer: None, channels: Default::default(), origin }
}

const fn type_of(kind: SliderKind) -> &'static str {
    match kind {
        SliderKind::Float => "float",
        SliderKind::Int => "int",
        SliderKind::Bool => "bool",
    }
}

/// Declares the buffers of the channels that are set.
fn channels(text: &mut String, piece: &Piece, is_direct: bool) {
    let mut loads = String::new();
    let (mut linear, mut repeats) = (0, 0);
    for (place, at) in bound(piece).enumerate() {
        let layout = if is_direct { format!("binding = {}", place + 1) } else { format!("set = 1, binding = {place}") };
        let _ = writeln!(text, "layout(std430, {layout}) readonly buffer PfChannel{at} {{ vec4 pf_texels{at}[]; }};");
        let _ = writeln!(loads, "  if (c == {at}) return pf_texels{at}[n];");
        if let Some(channel) = &piece.channels[at] {
            linear |= u32::from(channel.is_linear) << at;
            repeats |= u32::from(channel.repeats) << at;
        }
    }
    let _ = writeln!(text, "vec4 pf_load(int c, int n) {{\n{loads}  return vec4(0.0);\n}}");
    let _ = writeln!(text, "#define PF_LINEAR {linear}\n#define PF_REPEAT {repeats}");
}

/// Writes the function that computes a pixel from all inputs. Its names differ from those of sliders. With derivatives,
/// `mainImage` runs several times; `again` lists the shader's variables that must have their initial values in each
/// run.
fn run(text: &mut String, sliders: &[Slider], again: Option<&Vec<(&str, String)>>, is_buffer: bool) {
    *text += "vec4 pf_run(vec2 pf_whole, vec2 pf_place, float pf_time, float pf_delta, float pf_rate, int pf_frame, vec4 pf_mouse, vec4 pf_date, uvec4 pf_four";
    for (at, slider) in sliders.iter().enumerate() {
        let number = if slider.kind == SliderKind::Float { "float" } else { "int" };
        let _ = write!(text, ", {number} pf_slider_{}", letter(at));
    }
    *text += ") {
  iResolution = vec3(pf_whole, 1.0); iTime = pf_time; iTimeDelta = pf_delta; iFrameRate = pf_rate; iFrame = pf_frame;
  iMouse = pf_mouse; iDate = pf_date; pf_sizes = pf_four;
";
    for (at, Slider { name, kind, .. }) in sliders.iter().enumerate() {
        let given = letter(at);
        let value =
            if *kind == SliderKind::Bool { format!("pf_slider_{given} != 0") } else { format!("pf_slider_{given}") };
        let _ = writeln!(text, "  {name} = {value};");
    }
    for at in 0..CHANNELS {
        let _ = writeln!(
            text,
            "  iChannelTime[{at}] = pf_time; iChannelResolution[{at}] = vec3(vec2(pf_extent({at})), 1.0);"
        );
    }
    *text += "  vec4 pf_colour = vec4(0.0);\n";
    if let Some(globals) = again {
        let globals = || globals.iter().enumerate();
        globals().for_each(|(at, (of, name))| _ = writeln!(text, "  {of} pf_first_{at} = {name};"));
        *text += "  pf_way = 1.0 - 2.0 * mod(floor(pf_place), 2.0);\n";
        for (turn, next) in [(1, "pf_way.x, 0.0"), (2, "0.0, pf_way.y")] {
            let _ = writeln!(
                text,
                "  pf_turn = {turn}; pf_call = 0; pf_FragCoord = vec4(pf_place + vec2({next}), 0.0, 1.0);
  mainImage(pf_colour, pf_FragCoord.xy); pf_colour = vec4(0.0);"
            );
            globals().for_each(|(at, (_, name))| _ = writeln!(text, "  {name} = pf_first_{at};"));
        }
        *text += "  pf_turn = 0; pf_call = 0;\n";
    }
    *text += "  pf_FragCoord = vec4(pf_place, 0.0, 1.0);\n  mainImage(pf_colour, pf_place);\n";
    // The picture is opaque.
    *text += if is_buffer { "  return pf_colour;\n}\n" } else { "  return vec4(pf_colour.xyz, 1.0);\n}\n" };
}

/// Returns a letter instead of a digit, because naga appends an underscore to names that end with a digit.
fn letter(at: usize) -> char {
    char::from(b'a' + (at % 26) as u8)
}

/// Arguments of `pf_run` in GLSL and in WGSL, whose vector types differ by `<f32>`.
fn arguments(sliders: &[Slider], [vec2, vec4, uvec4]: [&str; 3], float_of: &str) -> String {
    let f = |at: usize| format!("pf_arg_f32({at})");
    let four = |name: &str, at: usize, read: fn(usize) -> String| {
        format!("{name}({})", (at..at + 4).map(read).collect::<Vec<_>>().join(", "))
    };
    let float = |at: usize| format!("pf_arg_f32({at})");
    let word = |at: usize| format!("pf_arg_u32({at})");
    let place = format!("{vec2}({float_of}(id.x) + 0.5, size.y - {float_of}(id.y) - 0.5)");
    let mut all = vec!["size".to_owned(), place, f(0), f(1), f(2), "pf_arg_i32(3)".into()];
    all.extend([four(vec4, 4, float), four(vec4, 8, float), four(uvec4, 12, word)]);
    all.extend(
        (PLACES.len()..)
            .zip(sliders)
            .map(|(at, slider)| if slider.kind == SliderKind::Float { f(at) } else { format!("pf_arg_i32({at})") }),
    );
    all.join(", ")
}

/// Writes the entry point of a shader that the driver compiles.
fn main(text: &mut String, piece: &Piece, sliders: &[Slider]) {
    let all = arguments(sliders, ["vec2", "vec4", "uvec4"], "float");
    *text += "layout(local_size_x = 8, local_size_y = 8) in;
void main() {
  uvec2 id = gl_GlobalInvocationID.xy;
  vec2 size = vec2(pf_size());
";
    let _ = writeln!(text, "  vec4 colour = pf_run({all});");
    // The compiler would remove a buffer that is never read. The condition is never true, because no channel has that
    // size.
    for at in bound(piece) {
        let _ = writeln!(text, "  if (pf_arg_u32(12) == 4294967295u) colour += pf_texels{at}[0];");
    }
    *text += "  pf_store(id, colour);\n}\n";
}

/// Writes the entry point of a shader that was translated to WGSL.
pub fn entry(sliders: &[Slider]) -> String {
    let all = arguments(sliders, ["vec2<f32>", "vec4<f32>", "vec4<u32>"], "f32");
    format!(
        "
@compute @workgroup_size(8, 8) fn {ENTRY}(@builtin(global_invocation_id) id: vec3<u32>) {{
  let size = vec2<f32>(pf_size());
  pf_store(id.xy, pf_run({all}));
}}
"
    )
}
