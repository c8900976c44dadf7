//! Fragment shaders with a `main` of their own, and inputs that they declare by glslViewer's names: `u_time`, `u_resolution`, `u_mouse`.

use super::fragment::{Around, OLD, colour, fragment};
use crate::input::CHANNELS;
use crate::pass::{Fragment, Pass, Piece};
use crate::slider::Slider;

/// A pass of a text. Of a `#version` only the line stays.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Pass {
    let mut piece = piece.clone();
    let line = |line: &str| if line.trim_start().starts_with("#version") { "\n".into() } else { format!("{line}\n") };
    piece.text = piece.text.lines().map(line).collect();
    let (declared, first) = colour(&piece.text);
    let sliders = sliders.iter().map(Slider::declared).collect::<String>();
    let around = Around { before: format!("{OLD}#define varying in\n{declared}{sliders}"), first };
    let names = (0..CHANNELS).map(|at| format!("u_tex{at}")).collect();
    fragment(&piece, common, &around, Fragment { names, is_float: true, ..Fragment::default() })
}
