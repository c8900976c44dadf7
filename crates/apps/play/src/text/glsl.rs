//! Compute shaders in GLSL with their own `main`. The inputs are macros.

use super::parts::{bound, inputs, names, without_version};
use crate::error::PlayError;
use crate::input::by_place;
use crate::log::{COMMON, NOBODYS, Origin, line_mark};
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::Slider;
use std::fmt::Write as _;

/// Makes a pass of a compute shader.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let mut text = line_mark(NOBODYS);
    for (name, _, value) in inputs(sliders)? {
        let _ = writeln!(text, "#define {name} {}", value.replace("<f32>", ""));
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
    text += &without_version(&piece.text);
    let params = by_place(sliders, read.into_iter());
    let (kernel, language) = ("main".to_owned(), PassLanguage::Glsl);
    Ok(Pass::of_kernel(kernel, language, text, params, origin))
}
