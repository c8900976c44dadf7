//! Shadertoy's texts, unchanged behind what its page declares. `main` stands before the text, so that no macro of the text reaches it.

use super::fragment::{Around, fragment};
use super::parts::names;
use crate::error::{Fault, PlayError};
use crate::input::CHANNELS;
use crate::pass::{Fragment, Pass, Piece};
use crate::slider::Slider;

/// What every text may name.
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

/// A pass of a text.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    if ![Some(piece), common].into_iter().flatten().any(|piece| names(&piece.text, "mainImage")) {
        let text = "there is no 'void mainImage(out vec4 fragColor, in vec2 fragCoord)'".to_owned();
        return Err(PlayError::Faults(vec![Fault { file: piece.file.clone(), line: None, column: None, text }]));
    }
    let declared = sliders.iter().map(Slider::declared).collect::<String>();
    let around = Around { before: format!("{INPUTS}{declared}"), first: "" };
    let names = (0..CHANNELS).map(|at| format!("iChannel{at}")).collect();
    let own = Fragment { is_strict: true, names, is_float: true, ..Fragment::default() };
    Ok(fragment(piece, common, &around, own))
}
