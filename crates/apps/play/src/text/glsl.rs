//! Compute shaders in GLSL with their own `main`. The inputs are macros.

use super::Dialect;
use super::parts::{bound, inputs, names, without_version};
use crate::error::PlayError;
use crate::input::by_place;
use crate::log::{COMMON, NOBODYS, Origin, line_mark};
use crate::pass::{Pass, Piece};
use crate::slider::Slider;

/// Makes a pass of a compute shader.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let mut text = line_mark(NOBODYS);
    for (name, _, value) in inputs(sliders)? {
        text += &format!("#define {name} {}\n", value.replace("<f32>", ""));
    }
    let common_text = common.map(|common| line_mark(COMMON) + &common.text + "\n").unwrap_or_default();
    // The driver reports only buffers that are read.
    let is_read = |at: &usize| [&piece.text, &common_text].iter().any(|text| names(text, &format!("iChannel{at}")));
    let read: Vec<_> = bound(piece).filter(is_read).collect();
    for (place, at) in (1..).zip(&read) {
        let size = 12 + at;
        text += &format!(
            "layout(std430, binding = {place}) readonly buffer PfChannel{at} {{ vec4 pf_texels{at}[]; }};
ivec2 iChannel{at}_size() {{ uint size = pf_arg_u32({size}); return max(ivec2(size & 65535u, size >> 16u), ivec2(1)); }}
vec4 iChannel{at}(ivec2 xy) {{
  ivec2 size = iChannel{at}_size();
  xy = clamp(xy, ivec2(0), size - 1);
  return pf_texels{at}[xy.y * size.x + xy.x];
}}\n"
        );
    }
    text += &(common_text + &line_mark(0) + &without_version(&piece.text));
    let origin =
        Origin { common: common.map(|common| common.numbered(COMMON)), ..Origin::of(&piece.file, &piece.text) };
    let params = by_place(sliders, read.into_iter());
    Ok(Pass::of_kernel("main".to_owned(), Dialect::Glsl, text, params, origin))
}
