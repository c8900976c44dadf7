//! WGSL with its own entry point. The inputs are functions, because WGSL has no macros.

use super::Dialect;
use super::parts::{bound, inputs, names};
use crate::error::{Fault, PlayError};
use crate::input::by_place;
use crate::log::Origin;
use crate::pass::{Pass, Piece};
use crate::slider::Slider;
use lazy_regex::regex_captures;

/// Makes a pass of WGSL. Appends only what the shader uses.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let (_, kernel) = regex_captures!(r"(?s)@compute\b.*?\bfn\s+(\w+)", &piece.text).ok_or_else(|| {
        Fault::new(&piece.file, None, "there is no entry point; add a function '@compute ... fn NAME'")
    })?;
    // The common file follows, so that line numbers stay.
    let mut origin = Origin::of(&piece.file, &piece.text);
    origin.common = common.map(|common| common.numbered(origin.lines));
    let own = common.map_or_else(|| piece.text.clone(), |common| piece.text.clone() + &common.text);
    let mut text = own.clone();
    for (name, of, value) in inputs(sliders)?.iter().filter(|(name, ..)| names(&own, name)) {
        text += &format!("fn {name}() -> {of} {{ return {value}; }}\n");
    }
    for (place, at) in bound(piece).enumerate() {
        let size = 12 + at;
        text += &format!(
            "@group(1) @binding({place}) var<storage, read> pf_texels_{at}c: array<vec4<f32>>;
fn iChannel{at}_size() -> vec2<i32> {{
  return max(vec2<i32>(i32(pf_arg_u32({size}) & 65535u), i32(pf_arg_u32({size}) >> 16u)), vec2<i32>(1));
}}
fn iChannel{at}(xy: vec2<i32>) -> vec4<f32> {{
  let size = iChannel{at}_size();
  let inside = clamp(xy, vec2<i32>(0), size - 1);
  return pf_texels_{at}c[inside.y * size.x + inside.x];
}}\n"
        );
    }
    let params = by_place(sliders, bound(piece));
    Ok(Pass::of_kernel(kernel.to_owned(), Dialect::Wgsl, text, params, origin))
}
