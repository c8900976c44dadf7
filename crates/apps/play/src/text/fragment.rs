//! Fragment shaders: the user's text behind the declarations of its inputs.

use super::Dialect;
use super::tokens::{names, without_version};
use super::zeroed_text::{ZeroDeclarations, ZeroedText};
use crate::gl::GROUP;
use crate::input::CHANNELS;
use crate::log::{AddedText, COMMON, NOBODYS, Origin, line_mark};
use crate::program::{FragmentInfo, Pass, Piece};
use crate::slider::{Slider, declarations};
use lazy_regex::regex_replace;

/// Default precisions, because GLSL ES has none for floats.
const PRECISIONS: &str = "precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler3D;
precision highp samplerCube;
";

/// Functions of older versions of GLSL.
const OLD: &str = "#define texture2D texture
#define texture2DLod textureLod
#define texture2DLodEXT textureLod
#define texture2DProj textureProj
#define textureCube texture
";

/// A name that a shader may not declare, and a replacement of the same length, which keeps columns.
pub const COLOUR: [&str; 2] = ["gl_FragColor", "pf_FragColor"];

/// The default vertex shader: a triangle around the picture, with positions from 0 to 1 by the names that shaders use.
pub const TRIANGLE: &str = "out vec2 isf_FragNormCoord, v_texcoord;
void main() {
  isf_FragNormCoord = v_texcoord = 2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(2.0 * v_texcoord - 1.0, 0.0, 1.0);
}
";

/// Declares a shader's colour, if it has none of its own, and gives it a value where `main` begins.
pub fn colour(text: &str) -> (&'static str, (&'static str, &'static str)) {
    match names(text, COLOUR[0]) {
        true => ("out vec4 pf_FragColor;\n", ("main", "pf_FragColor=vec4(0);")),
        false => ("", ("main", "")),
    }
}

/// Makes a pass of a shader, with declarations before it, and code where the body of the function `entry` begins. Its
/// version is added when a context is known.
pub fn fragment(
    piece: &Piece,
    common: Option<&Piece>,
    before: &str,
    entry: (&str, &str),
    fragment: FragmentInfo,
) -> Pass {
    let mut text = line_mark(NOBODYS) + PRECISIONS + before;
    let all = || [(COMMON, common), (0, Some(piece))].into_iter().filter_map(|(first, piece)| Some((first, piece?)));
    // Shaders from before WebGL 2 still run, unless they define the old functions themselves.
    let is_old = |text: &str| names(text, "texture2D") && !text.contains("define texture2D");
    if before.contains("varying") || all().any(|(_, piece)| is_old(&piece.text)) {
        text += OLD;
    }
    let mut origin =
        Origin { common: common.map(|common| common.numbered(COMMON)), ..Origin::of(&piece.file, &piece.text) };
    let mut declared = ZeroDeclarations::default();
    for (first, own) in all() {
        let zeroed = ZeroedText::of(&own.text.replace(COLOUR[0], COLOUR[1]), entry, &mut declared);
        text += &format!("{}{}\n", line_mark(first), zeroed.text);
        origin.added.extend(zeroed.added.into_iter().map(|added| AddedText { line: first + added.line, ..added }));
    }
    let channels = piece.channels.clone();
    Pass { channels, fragment, ..Pass::of_kernel(String::new(), Dialect::Shadertoy, text, Vec::new(), origin) }
}

/// Makes a pass of a shader with its own `main`, which declares inputs with glslViewer's names: `u_time`,
/// `u_resolution`, `u_mouse`.
pub fn glslviewer_pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Pass {
    let piece = Piece { text: without_version(&piece.text), ..piece.clone() };
    let (colour, entry) = colour(&piece.text);
    let names = (0..CHANNELS).map(|at| format!("u_tex{at}")).collect();
    let own = FragmentInfo { names, is_float: true, ..FragmentInfo::default() };
    fragment(&piece, common, &format!("#define varying in\n{colour}{}", declarations(sliders)), entry, own)
}

/// Precedes a shader that runs as a compute shader: `main` stores the colour that the fragment shader would draw. NVIDIA
/// refuses the extension in older versions of GLSL.
const STORES: &str = "#version 450
#extension GL_NV_compute_shader_derivatives : enable
layout(local_size_x = GROUP, local_size_y = GROUP) in;
#ifdef GL_NV_compute_shader_derivatives
layout(derivative_group_quadsNV) in;
#endif
writeonly uniform image2D shadertoy_out_image;
uniform bool shadertoy_out_opaque;
vec4 shadertoy_out_color, shadertoy_out_place = vec4(vec2(gl_GlobalInvocationID) + 0.5, 0.5, 1.0);
vec2 isf_FragNormCoord = shadertoy_out_place.xy / vec2(imageSize(shadertoy_out_image));
#define gl_FragCoord shadertoy_out_place
#define pf_FragColor shadertoy_out_color
void shadertoy_out_main();
void main() {
  shadertoy_out_main();
  if (shadertoy_out_opaque) shadertoy_out_color.w = 1.0;
  imageStore(shadertoy_out_image, ivec2(gl_GlobalInvocationID), shadertoy_out_color);
}
";

/// What only a fragment shader declares.
const DECLARED: [&str; 3] = ["out vec4 shadertoy_out_color;", "out vec4 pf_FragColor;", "in vec2 isf_FragNormCoord;"];

/// Returns the compute shader of a pass, which does not compile if the text discards pixels. `None` if the text may differ
/// between versions of GLSL.
pub fn as_compute(text: &str) -> Option<String> {
    let text = regex_replace!(r"\bvoid\s+main\s*\(", text, "void shadertoy_out_main(").into_owned();
    let text = DECLARED.into_iter().fold(text, |text, declared| text.replacen(declared, "", 1));
    let is_same = !["GL_ES", "__VERSION__"].iter().any(|name| names(&text, name));
    is_same.then(|| STORES.replace("GROUP", &GROUP.to_string()) + &text)
}
