//! WGSL with its own entry point. The inputs are functions, because WGSL has no macros.

use super::parts::{bound, by_place, names};
use crate::error::{Fault, PlayError};
use crate::input::PLACES;
use crate::log::Origin;
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::{Slider, SliderKind};
use std::fmt::Write as _;

const INPUTS: [(&str, &str); 7] = [
    ("iTime", "f32 { return pf_arg_f32(0); }"),
    ("iTimeDelta", "f32 { return pf_arg_f32(1); }"),
    ("iFrameRate", "f32 { return pf_arg_f32(2); }"),
    ("iFrame", "i32 { return pf_arg_i32(3); }"),
    ("iMouse", "vec4<f32> { return vec4<f32>(pf_arg_f32(4), pf_arg_f32(5), pf_arg_f32(6), pf_arg_f32(7)); }"),
    ("iDate", "vec4<f32> { return vec4<f32>(pf_arg_f32(8), pf_arg_f32(9), pf_arg_f32(10), pf_arg_f32(11)); }"),
    ("iResolution", "vec3<f32> { return vec3<f32>(vec2<f32>(pf_size()), 1.0); }"),
];

/// Makes a pass of WGSL. Appends only what the shader uses.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Result<Pass, PlayError> {
    let kernel = entry(&piece.text).ok_or_else(|| {
        let text = "there is no entry point; add a function '@compute ... fn NAME'".to_owned();
        PlayError::Faults(vec![Fault { file: piece.file.clone(), line: None, column: None, text }])
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
    for (name, function) in INPUTS.iter().filter(|(name, _)| names(&named, name)) {
        let _ = writeln!(text, "fn {name}() -> {function}");
    }
    for (at, slider) in (PLACES.len()..).zip(sliders).filter(|(_, slider)| names(&named, &slider.name)) {
        let name = &slider.name;
        let _ = match slider.kind {
            SliderKind::Float => writeln!(text, "fn {name}() -> f32 {{ return pf_arg_f32({at}); }}"),
            SliderKind::Int => writeln!(text, "fn {name}() -> i32 {{ return pf_arg_i32({at}); }}"),
            SliderKind::Bool => writeln!(text, "fn {name}() -> bool {{ return pf_arg_i32({at}) != 0; }}"),
        };
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
    Ok(Pass { kernel, language: PassLanguage::Wgsl, text, params, buffer: None, channels: Default::default(), origin })
}

/// Returns the name of the first entry point.
fn entry(text: &str) -> Option<String> {
    let (_, behind) = text.split_once("@compute")?;
    let (_, name) = behind.split_once("fn ")?;
    let name: String = name.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    Some(name).filter(|name| !name.is_empty())
}
