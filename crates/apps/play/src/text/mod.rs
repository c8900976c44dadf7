//! The supported languages, and how passes are made from them.

mod c;
mod dialect;
mod fragment;
mod glsl;
mod isf;
mod parts;
mod shadertoy;
mod tokens;
mod wgsl;
mod zeroed_text;

pub use dialect::{Dialect, backend_for};
pub use fragment::{COLOUR, TRIANGLE, as_compute};

use crate::error::{Fault, PlayError};
use crate::pass::{CUBE, Pass, Piece};
use crate::slider::Slider;

/// Makes passes from files, each with the buffer that it writes, and collects their sliders. `beside` is the common
/// code, or ISF's vertex shader.
pub fn passes(
    dialect: Dialect,
    pieces: &[(Option<usize>, Piece)],
    beside: Option<&Piece>,
    sliders: Vec<Slider>,
) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    if dialect == Dialect::Isf {
        let text = pieces.last().ok_or_else(|| PlayError::Option("there is no shader".into()))?;
        return isf::passes(&text.1, beside).map_err(|why| Fault::new(&text.1.file, None, why).into());
    }
    let make = |(buffer, piece): &(Option<usize>, Piece)| {
        let pass = match dialect {
            Dialect::Shadertoy | Dialect::Isf => shadertoy::pass(piece, beside, &sliders, *buffer == Some(CUBE))?,
            Dialect::GlslViewer => fragment::glslviewer_pass(piece, beside, &sliders),
            Dialect::Glsl => glsl::pass(piece, beside, &sliders)?,
            Dialect::Wgsl => wgsl::pass(piece, beside, &sliders)?,
            Dialect::OpenClC | Dialect::CudaCpp => c::pass(piece, beside, &sliders, dialect)?,
        };
        Ok(Pass { buffer: *buffer, channels: piece.channels.clone(), ..pass })
    };
    let passes = pieces.iter().map(make).collect::<Result<_, PlayError>>()?;
    Ok((passes, sliders))
}
