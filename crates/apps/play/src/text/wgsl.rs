//! WGSL with its own entry point. The inputs are functions, because WGSL has no macros.

use super::parts::{bound, inputs, names};
use crate::error::{Fault, PlayError};
use crate::input::by_place;
use crate::log::Origin;
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::Slider;
use std::fmt::Write as _;

/// Makes a pass of WGSL. Appends only what the shader uses.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let kernel = entry(&piece.text).ok_or_else(|| {
        Fault::new(&piece.file, None, "there is no entry point; add a function '@compute ... fn NAME'")
    })?;
    let mut text = piece.text.clone();
    let mut origin = Origin::of(piece.file.clone());
    if let Some(common) = common {
        // Append, so that line numbers stay.
        text.push('\n');
        origin.common = Some((common.file.clone(), text.lines().count() as u32));
        text += &common.text;
    }
    let named = text.clone();
    text.push('\n');
    for (name, of, value) in inputs(sliders)?.iter().filter(|(name, ..)| names(&named, name)) {
        let _ = writeln!(text, "fn {name}() -> {of} {{ return {value}; }}");
    }
    for (place, at) in bound(piece).enumerate() {
        let size = 12 + at;
        let _ = writeln!(
            text,
            "@group(1) @binding({place}) var<storage, read> pf_texels_{at}c: array<vec4<f32>>;
fn iChannel{at}_size() -> vec2<i32> {{
  return max(vec2<i32>(i32(pf_arg_u32({size}) & 65535u), i32(pf_arg_u32({size}) >> 16u)), vec2<i32>(1));
}}
fn iChannel{at}(xy: vec2<i32>) -> vec4<f32> {{
  let size = iChannel{at}_size();
  let inside = clamp(xy, vec2<i32>(0), size - 1);
  return pf_texels_{at}c[inside.y * size.x + inside.x];
}}"
        );
    }
    let params = by_place(sliders, bound(piece));
    Ok(Pass::of_kernel(kernel, PassLanguage::Wgsl, text, params, origin))
}

/// Returns the name of the first entry point.
fn entry(text: &str) -> Option<String> {
    let (_, behind) = text.split_once("@compute")?;
    let (_, name) = behind.split_once("fn ")?;
    let name: String = name.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(name).filter(|name| !name.is_empty())
}
