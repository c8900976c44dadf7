//! Compute shaders in GLSL with their own `main`. The inputs are macros.

use super::parts::{bound, by_place, names};
use crate::input::PLACES;
use crate::log::{COMMON, NOBODYS, Origin, line_mark};
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::{Slider, SliderKind};
use std::fmt::Write as _;

const INPUTS: &str = "#define iTime pf_arg_f32(0)
#define iTimeDelta pf_arg_f32(1)
#define iFrameRate pf_arg_f32(2)
#define iFrame pf_arg_i32(3)
#define iMouse vec4(pf_arg_f32(4), pf_arg_f32(5), pf_arg_f32(6), pf_arg_f32(7))
#define iDate vec4(pf_arg_f32(8), pf_arg_f32(9), pf_arg_f32(10), pf_arg_f32(11))
#define iResolution vec3(vec2(pf_size()), 1.0)
";

/// Makes a pass of a compute shader. A `#version` directive is blanked, because the backend writes its own.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Pass {
    let mut text = line_mark(NOBODYS) + INPUTS;
    for (at, slider) in (PLACES.len()..).zip(sliders) {
        let read = match slider.kind {
            SliderKind::Float => format!("pf_arg_f32({at})"),
            SliderKind::Int => format!("pf_arg_i32({at})"),
            SliderKind::Bool => format!("(pf_arg_i32({at}) != 0)"),
        };
        let _ = writeln!(text, "#define {} {read}", slider.name);
    }
    let common_text = common.map(|piece| piece.text.as_str()).unwrap_or_default();
    // The driver reports only buffers that are read.
    let read: Vec<_> = bound(piece)
        .filter(|at| [&piece.text, common_text].iter().any(|text| names(text, &format!("iChannel{at}"))))
        .collect();
    for (place, at) in (1..).zip(&read) {
        let _ = writeln!(
            text,
            "layout(std430, binding = {place}) readonly buffer PfChannel{at} {{ vec4 pf_texels{at}[]; }};
ivec2 iChannel{at}_size() {{ uint size = pf_arg_u32({}); return max(ivec2(size & 65535u, size >> 16u), ivec2(1)); }}
vec4 iChannel{at}(ivec2 xy) {{
  ivec2 size = iChannel{at}_size();
  xy = clamp(xy, ivec2(0), size - 1);
  return pf_texels{at}[xy.y * size.x + xy.x];
}}",
            12 + at
        );
    }
    let mut origin = Origin::of(piece.file.clone());
    if let Some(common) = common {
        origin.common = Some((common.file.clone(), COMMON));
        text += &line_mark(COMMON);
        text += &common.text;
        text.push('\n');
    }
    text += &line_mark(0);
    for line in piece.text.lines() {
        text += if line.trim_start().starts_with("#version") { "" } else { line };
        text.push('\n');
    }
    let params = by_place(sliders, read.into_iter());
    let (kernel, language) = ("main".to_owned(), PassLanguage::Glsl);
    Pass { kernel, language, text, params, buffer: None, channels: Default::default(), origin }
}
