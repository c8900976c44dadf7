//! Common parts of the languages: inputs by index, and words of a text.

use crate::error::PlayError;
use crate::input::{CHANNELS, MOST_SLIDERS, PLACES};
use crate::pass::Piece;
use crate::slider::{Slider, SliderKind};

/// Inputs of languages that read numbers by index: name, type in WGSL, and expression.
const INPUTS: [(&str, &str, &str); 7] = [
    ("iTime", "f32", "pf_arg_f32(0)"),
    ("iTimeDelta", "f32", "pf_arg_f32(1)"),
    ("iFrameRate", "f32", "pf_arg_f32(2)"),
    ("iFrame", "i32", "pf_arg_i32(3)"),
    ("iMouse", "vec4<f32>", "vec4(pf_arg_f32(4), pf_arg_f32(5), pf_arg_f32(6), pf_arg_f32(7))"),
    ("iDate", "vec4<f32>", "vec4(pf_arg_f32(8), pf_arg_f32(9), pf_arg_f32(10), pf_arg_f32(11))"),
    ("iResolution", "vec3<f32>", "vec3(vec2<f32>(pf_size()), 1.0)"),
];

/// Returns those inputs, and the sliders in the same form.
///
/// # Errors
/// A launch has no room for this many sliders.
pub fn inputs(sliders: &[Slider]) -> Result<Vec<(&str, &'static str, String)>, PlayError> {
    let count = sliders.len();
    if count > MOST_SLIDERS {
        let text = format!("too many sliders: {count}, this language has at most {MOST_SLIDERS}");
        return Err(PlayError::Option(text));
    }
    let sliders = (PLACES..).zip(sliders).map(|(at, slider)| match slider.kind {
        SliderKind::Float => (slider.name.as_str(), "f32", format!("pf_arg_f32({at})")),
        SliderKind::Int => (slider.name.as_str(), "i32", format!("pf_arg_i32({at})")),
        SliderKind::Bool | SliderKind::Event => (slider.name.as_str(), "bool", format!("(pf_arg_i32({at}) != 0)")),
    });
    Ok(INPUTS.iter().map(|(name, of, text)| (*name, *of, (*text).to_owned())).chain(sliders).collect())
}

/// Channels of a file that are set.
pub fn bound(piece: &Piece) -> impl Iterator<Item = usize> + '_ {
    (0..CHANNELS).filter(|at| matches!(piece.channels.get(*at), Some(Some(_))))
}

/// Blanks a `#version` directive, because the pass has its own.
pub fn without_version(text: &str) -> String {
    let line = |line: &str| if line.trim_start().starts_with("#version") { "\n".into() } else { format!("{line}\n") };
    text.lines().map(line).collect()
}

/// Returns whether a text contains this name, which may be in a comment.
pub fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
}
