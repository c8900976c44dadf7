//! Fragment shaders: the user's text behind the declarations of its inputs, those of Shadertoy's page or glslViewer's. In
//! Shadertoy's, `main` is before the text, so that no macro of the text affects it.

use super::tokens::{names, without_version};
use super::zeroed_text::{ZeroDeclarations, ZeroedText};
use crate::dialect::Dialect;
use crate::error::{AddedText, COMMON, Fault, NOBODYS, PlayError, line_mark};
use crate::gl::{GROUP, TextureShape};
use crate::input::{CHANNELS, Slider, declarations};
use crate::pass::{CUBE, Channel, FragmentInfo, Pass, Piece};
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
pub fn fragment(piece: &Piece, common: Option<&Piece>, before: &str, entry: (&str, &str), info: FragmentInfo) -> Pass {
    let mut text = line_mark(NOBODYS) + PRECISIONS + before;
    let all = || [(COMMON, common), (0, Some(piece))].into_iter().filter_map(|(first, piece)| Some((first, piece?)));
    // Shaders from before WebGL 2 still run, unless they define the old functions themselves.
    let is_old = |text: &str| names(text, "texture2D") && !text.contains("define texture2D");
    if before.contains("varying") || all().any(|(_, piece)| is_old(&piece.text)) {
        text += OLD;
    }
    let mut origin = piece.origin(common, COMMON);
    let mut declared = ZeroDeclarations::default();
    for (first, own) in all() {
        let zeroed = ZeroedText::of(&own.text.replace(COLOUR[0], COLOUR[1]), entry, &mut declared);
        text += &format!("{}{}\n", line_mark(first), zeroed.text);
        origin.added.extend(zeroed.added.into_iter().map(|added| AddedText { line: first + added.line, ..added }));
    }
    Pass { fragment: info, ..Pass::of_kernel(String::new(), Dialect::Shadertoy, text, Vec::new(), origin) }
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

/// Declares the inputs.
const INPUTS: &str = "#define HW_PERFORMANCE 1
#define iGlobalTime iTime
uniform vec3 iResolution;
uniform float iTime, iTimeDelta, iFrameRate, iSampleRate, iChannelTime[4];
uniform int iFrame;
uniform vec4 iMouse, iDate;
uniform vec3 iChannelResolution[4];
out vec4 shadertoy_out_color;
void st_assert(bool cond, int v) { if (!cond) shadertoy_out_color[v & 3] = -1.0; }
void st_assert(bool cond) { st_assert(cond, 0); }
void mainImage(out vec4 c, in vec2 f);
void mainCubemap(out vec4 c, in vec2 f, in vec3 o, in vec3 d);
void main() {
  vec4 color = vec4(0.0);
  shadertoy_out_color = vec4(1.0);
";

/// Calls the entry point of a picture or a buffer, or that of a cube, whose faces are side by side.
const IMAGE: &str = "  mainImage(color, gl_FragCoord.xy);
";
const CUBEMAP: &str =
    "  vec2 place = vec2(mod(gl_FragCoord.x, iResolution.x), gl_FragCoord.y), at = 2.0 * place / iResolution.y - 1.0;
  int face = int(gl_FragCoord.x / iResolution.x);
  vec3 dir = face < 1 ? vec3(1, -at.yx) : face < 2 ? vec3(-1, -at.y, at.x) : face < 3 ? vec3(at.x, 1, at.y)
    : face < 4 ? vec3(at.x, -1, -at.y) : face < 5 ? vec3(at.x, -at.y, 1) : vec3(-at.x, -at.y, -1);
  mainCubemap(color, place, vec3(0), normalize(dir));
";

/// Shows failed assertions.
const END: &str = "  for (int at = 0; at < 4; at++)
    if (shadertoy_out_color[at] < 0.0) color = vec4(at == 0 || at == 3, at == 1 || at == 3, at == 2, 1);
  shadertoy_out_color = color;
}
";

/// Makes a pass of a shader.
pub fn shadertoy_pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let is_cube = piece.buffer == Some(CUBE);
    let (entry, call) = if is_cube { ("mainCubemap", CUBEMAP) } else { ("mainImage", IMAGE) };
    if ![Some(piece), common].into_iter().flatten().any(|piece| names(&piece.text, entry)) {
        let more = if is_cube { ", in vec3 rayOri, in vec3 rayDir" } else { "" };
        let text = format!("there is no entry point; add 'void {entry}(out vec4 fragColor, in vec2 fragCoord{more})'");
        return Err(Fault::new(&piece.file, None, text).into());
    }
    let sampler = |(at, channel): (usize, &Option<Channel>)| {
        let kind = match channel.as_ref().map(|channel| channel.sampling.shape) {
            Some(TextureShape::Cube) => "Cube",
            Some(TextureShape::Volume) => "3D",
            _ => "2D",
        };
        format!("uniform sampler{kind} iChannel{at};\n")
    };
    let channels: String = piece.channels.iter().enumerate().map(sampler).collect();
    let before = channels + &declarations(sliders) + INPUTS + call + END;
    let names = (0..CHANNELS).map(|at| format!("iChannel{at}")).collect();
    let size = if is_cube { ["6144", "1024"] } else { [""; 2] }.map(str::to_owned);
    let own = FragmentInfo { is_strict: true, size, names, is_float: true, ..FragmentInfo::default() };
    Ok(fragment(piece, common, &before, (entry, ""), own))
}
