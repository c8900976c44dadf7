//! Fragment shaders with their own `main`, which declare inputs with glslViewer's names: `u_time`, `u_resolution`,
//! `u_mouse`.

use super::fragment::{OLD, TextWrapper, colour, fragment};
use super::parts::without_version;
use crate::input::CHANNELS;
use crate::pass::{FragmentInfo, Pass, Piece};
use crate::slider::Slider;

/// Makes a pass of a shader.
pub fn pass(piece: &Piece, common: Option<&Piece>, sliders: &[Slider]) -> Pass {
    let piece = Piece { text: without_version(&piece.text), ..piece.clone() };
    let (declared, entry) = colour(&piece.text);
    let sliders = sliders.iter().map(Slider::declared).collect::<String>();
    let around = TextWrapper { before: format!("{OLD}#define varying in\n{declared}{sliders}"), entry };
    let names = (0..CHANNELS).map(|at| format!("u_tex{at}")).collect();
    fragment(&piece, common, &around, FragmentInfo { names, is_float: true, ..FragmentInfo::default() })
}
