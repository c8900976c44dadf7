//! Shadertoy's shaders, unchanged behind the declarations of Shadertoy's page. `main` is before the shader, so that no
//! macro of the shader affects it.

use super::fragment::fragment;
use super::tokens::names;
use crate::error::{Fault, PlayError};
use crate::gl::TextureShape;
use crate::input::CHANNELS;
use crate::program::{Channel, FragmentInfo, Pass, Piece};
use crate::slider::{Slider, declarations};

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
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider], is_cube: bool) -> Result<Pass, PlayError> {
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
