//! Languages that are played, and what makes kernels of their texts.

mod c;
mod dialect;
mod expression;
mod fragment;
mod glsl;
mod glslviewer;
mod isf;
mod parts;
mod shadertoy;
mod wgsl;
mod zeroed;

pub use dialect::{Dialect, backend_for, is_of_fragments};
pub use expression::evaluate;
pub use fragment::{COLOUR, TRIANGLE};

use crate::error::PlayError;
use crate::pass::{Pass, Piece, Tongue};
use crate::slider::Slider;
use parts::few;

/// The passes of pieces, each with the buffer that it writes, and their sliders. `beside` is the text that all have in common, or that of
/// the vertices.
pub fn passes(
    dialect: Dialect,
    pieces: &[(Option<usize>, Piece)],
    beside: Option<&Piece>,
    sliders: Vec<Slider>,
) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    if dialect == Dialect::Isf {
        let text = pieces.last().ok_or_else(|| PlayError::Option("there is no text".into()))?;
        return isf::passes(&text.1, beside);
    }
    if matches!(dialect, Dialect::Glsl | Dialect::Wgsl) {
        few(&sliders)?;
    }
    let make = |(buffer, piece): &(Option<usize>, Piece)| {
        let mut pass = match dialect {
            Dialect::Shadertoy | Dialect::Isf => shadertoy::pass(piece, beside, &sliders)?,
            Dialect::GlslViewer => glslviewer::pass(piece, beside, &sliders),
            Dialect::Glsl => glsl::pass(piece, beside, &sliders),
            Dialect::Wgsl => wgsl::pass(piece, beside, &sliders)?,
            Dialect::OpenClC => c::pass(piece, beside, &sliders, Tongue::OpenClC)?,
            Dialect::CudaCpp => c::pass(piece, beside, &sliders, Tongue::CudaCpp)?,
        };
        pass.origin.last = Some(piece.text.lines().count() as u32);
        Ok(Pass { buffer: *buffer, channels: piece.channels.clone(), ..pass })
    };
    let passes = pieces.iter().map(make).collect::<Result<_, PlayError>>()?;
    Ok((passes, sliders))
}
