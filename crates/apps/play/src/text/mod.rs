//! The supported languages, and how passes are made from them.

mod fragment;
mod isf;
mod kernel;
mod tokens;
mod zeroed_text;

pub use fragment::{COLOUR, TRIANGLE, as_compute};

use crate::dialect::Dialect;
use crate::error::{Fault, PlayError};
use crate::input::Slider;
use crate::pass::{CUBE, Pass, Piece};

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
        let is_cube = *buffer == Some(CUBE);
        let pass = match dialect {
            Dialect::Shadertoy | Dialect::Isf => fragment::shadertoy_pass(piece, beside, &sliders, is_cube)?,
            Dialect::GlslViewer => fragment::glslviewer_pass(piece, beside, &sliders),
            Dialect::Glsl => kernel::glsl_pass(piece, beside, &sliders)?,
            Dialect::Wgsl => kernel::wgsl_pass(piece, beside, &sliders)?,
            Dialect::OpenClC | Dialect::CudaCpp => kernel::c_pass(piece, beside, &sliders, dialect)?,
        };
        Ok(Pass { buffer: *buffer, channels: piece.channels.clone(), ..pass })
    };
    let passes = pieces.iter().map(make).collect::<Result<_, PlayError>>()?;
    Ok((passes, sliders))
}
