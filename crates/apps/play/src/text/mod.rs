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
use crate::pass::{Pass, Piece};

/// Makes passes from files, and collects their sliders. `beside` is the common code, or ISF's vertex shader.
pub fn passes(
    dialect: Dialect,
    pieces: &[Piece],
    beside: Option<&Piece>,
    sliders: Vec<Slider>,
) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    if dialect == Dialect::Isf {
        let piece = pieces.last().ok_or_else(|| PlayError::Option("there is no shader".into()))?;
        return isf::passes(piece, beside).map_err(|why| Fault::new(&piece.file, None, why).into());
    }
    let make = |piece: &Piece| {
        let pass = match dialect {
            Dialect::Shadertoy | Dialect::Isf => fragment::shadertoy_pass(piece, beside, &sliders)?,
            Dialect::GlslViewer => fragment::glslviewer_pass(piece, beside, &sliders),
            Dialect::Glsl => kernel::glsl_pass(piece, beside, &sliders)?,
            Dialect::Wgsl => kernel::wgsl_pass(piece, beside, &sliders)?,
            Dialect::OpenClC | Dialect::CudaCpp => kernel::c_pass(piece, beside, &sliders, dialect)?,
        };
        Ok(Pass { buffer: piece.buffer, channels: piece.channels.clone(), ..pass })
    };
    let passes = pieces.iter().map(make).collect::<Result<_, PlayError>>()?;
    Ok((passes, sliders))
}
