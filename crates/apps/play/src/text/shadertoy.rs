//! Shadertoy's shaders, unchanged behind the declarations of Shadertoy's page. `main` is before the shader, so that no
//! macro of the shader affects it.

use super::fragment::{TextWrapper, fragment};
use super::parts::names;
use crate::error::{Fault, PlayError};
use crate::input::CHANNELS;
use crate::pass::{FragmentInfo, Pass, Piece};
use crate::slider::Slider;

/// Declares the inputs.
const INPUTS: &str = "#define HW_PERFORMANCE 1
#define iGlobalTime iTime
uniform vec3 iResolution;
uniform float iTime, iTimeDelta, iFrameRate, iSampleRate, iChannelTime[4];
uniform int iFrame;
uniform vec4 iMouse, iDate;
uniform vec3 iChannelResolution[4];
uniform sampler2D iChannel0, iChannel1, iChannel2, iChannel3;
out vec4 shadertoy_out_color;
void st_assert(bool cond, int v) { if (!cond) shadertoy_out_color[v & 3] = -1.0; }
void st_assert(bool cond) { st_assert(cond, 0); }
void mainImage(out vec4 c, in vec2 f);
void main() {
  vec4 color = vec4(0.0);
  shadertoy_out_color = vec4(1.0);
  mainImage(color, gl_FragCoord.xy);
  if (shadertoy_out_color.x < 0.0) color = vec4(1.0, 0.0, 0.0, 1.0);
  if (shadertoy_out_color.y < 0.0) color = vec4(0.0, 1.0, 0.0, 1.0);
  if (shadertoy_out_color.z < 0.0) color = vec4(0.0, 0.0, 1.0, 1.0);
  if (shadertoy_out_color.w < 0.0) color = vec4(1.0, 1.0, 0.0, 1.0);
  shadertoy_out_color = color;
}
";

/// Makes a pass of a shader.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    if ![Some(piece), common].into_iter().flatten().any(|piece| names(&piece.text, "mainImage")) {
        let text = "there is no entry point; add 'void mainImage(out vec4 fragColor, in vec2 fragCoord)'";
        return Err(Fault::new(&piece.file, None, text).into());
    }
    let declared = sliders.iter().map(Slider::declared).collect::<String>();
    let around = TextWrapper { before: format!("{INPUTS}{declared}"), entry: ("mainImage", "") };
    let names = (0..CHANNELS).map(|at| format!("iChannel{at}")).collect();
    let own = FragmentInfo { is_strict: true, names, is_float: true, ..FragmentInfo::default() };
    Ok(fragment(piece, common, &around, own))
}
