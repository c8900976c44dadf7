//! The supported languages, and how kernels are made from them.

mod c;
mod dialect;
mod glsl;
mod isf;
mod parts;
pub mod shadertoy;
mod wgsl;
mod zeroed_text;

pub use dialect::{Dialect, backend_for};

use crate::error::PlayError;
use crate::pass::{Pass, PassLanguage, Piece};
use crate::slider::Slider;
use parts::few;
use pixelferry::BackendChoice;
use shadertoy::TextWrapper;

/// Makes passes from files, each with the buffer that it writes, and collects their sliders.
pub fn passes(
    dialect: Dialect,
    pieces: &[(Option<usize>, Piece)],
    common: Option<&Piece>,
    sliders: Vec<Slider>,
    backend: BackendChoice,
) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    if !matches!(dialect, Dialect::OpenClC | Dialect::CudaCpp) {
        few(&sliders)?;
    }
    let graphics =
        if dialect.backend(backend) == BackendChoice::Gl { PassLanguage::Glsl } else { PassLanguage::GlslToWgsl };
    if dialect == Dialect::Isf {
        let text = pieces.last().ok_or_else(|| PlayError::Option("there is no shader".into()))?;
        return isf::passes(&text.1, graphics);
    }
    let make = |(buffer, piece): &(Option<usize>, Piece)| {
        let mut pass = match dialect {
            Dialect::Shadertoy | Dialect::Isf => {
                shadertoy::pass(piece, common, &sliders, graphics, buffer.is_some(), &TextWrapper::default())
            }
            Dialect::Glsl => glsl::pass(piece, common, &sliders),
            Dialect::Wgsl => wgsl::pass(piece, common, &sliders)?,
            Dialect::OpenClC => c::pass(piece, common, &sliders, PassLanguage::OpenClC)?,
            Dialect::CudaCpp => c::pass(piece, common, &sliders, PassLanguage::CudaCpp)?,
        };
        if dialect != Dialect::Shadertoy {
            pass.origin.last = Some(piece.text.lines().count() as u32);
        }
        Ok(Pass { buffer: *buffer, channels: piece.channels.clone(), ..pass })
    };
    let passes = pieces.iter().map(make).collect::<Result<_, PlayError>>()?;
    Ok((passes, sliders))
}
