//! A file and its companions, as the passes of a frame.

use crate::dialect::Dialect;
use crate::error::{Fault, PlayError};
use crate::input::{Param, Slider};
use crate::pass::{BUFFERS, Channel, Pass, Piece, Source, Wishes};
use crate::text;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The passes of a frame, as sources for a backend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The named file.
    pub file: PathBuf,
    /// Buffers in order, then the picture.
    pub passes: Vec<Pass>,
    /// Numbers that the user changes.
    pub sliders: Vec<Slider>,
}

impl Program {
    /// Reads a file, and buffers and common code beside it: for `rain.glsl`, the files `rain.bufA.glsl` to
    /// `rain.bufD.glsl`, `rain.cubeA.glsl` and `rain.common.glsl`. For ISF it is the vertex shader, `rain.vs`.
    ///
    /// # Errors
    /// [`PlayError::Language`], and [`PlayError::Faults`] for files that cannot be read and for errors in annotations and
    /// elsewhere that are found before compiling.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let dialect = Dialect::of(file)?;
        let mut pieces = vec![Piece::read(file, wishes)?];
        let mut beside = None;
        for (at, path) in Self::beside(file)?.iter().skip(1).enumerate().filter(|(_, path)| path.is_file()) {
            let piece = Piece::read(path, wishes)?;
            if at < BUFFERS.len() && dialect != Dialect::Isf {
                pieces.push(Piece { buffer: Some(at), ..piece });
            } else {
                beside = Some(piece);
            }
        }
        // The picture's pass goes last.
        pieces.rotate_left(1);
        let mut sliders: Vec<Slider> = Vec::new();
        for slider in pieces.iter().chain(&beside).flat_map(|piece| &piece.sliders) {
            if !sliders.iter().any(|known| known.name == slider.name) {
                sliders.push(slider.clone());
            }
        }
        let (passes, sliders) = text::passes(dialect, &pieces, beside.as_ref(), sliders)?;
        let program = Self { file: file.to_owned(), passes, sliders };
        program.check()?;
        Ok(program)
    }

    /// Returns the files that a program can consist of, whether they exist or not.
    pub fn beside(file: &Path) -> Result<Vec<PathBuf>, PlayError> {
        let dialect = Dialect::of(file)?;
        if dialect == Dialect::Isf {
            return Ok(vec![file.to_owned(), file.with_extension("vs")]);
        }
        let ending = file.extension().unwrap_or_default().display();
        let others = BUFFERS.iter().chain(&["common"]).map(|part| file.with_extension(format!("{part}.{ending}")));
        Ok(std::iter::once(file.to_owned()).chain(others).collect())
    }

    /// Checks that named buffers exist, and that every channel that a kernel reads is set.
    fn check(&self) -> Result<(), PlayError> {
        for pass in &self.passes {
            let unwritten = |channel: &Channel| match channel.source {
                Source::Buffer(at) if !self.passes.iter().any(|pass| pass.buffer == Some(at)) => Some(BUFFERS[at]),
                _ => None,
            };
            let unset = |param: &Param| match param {
                Param::Channel(at) if !matches!(pass.channels.get(*at), Some(Some(_))) => Some(*at),
                _ => None,
            };
            let text = if let Some(name) = pass.channels.iter().flatten().find_map(unwritten) {
                format!("a channel names {name}, but there is no file for it: create NAME.{name}.* beside NAME.*")
            } else if let Some(at) = pass.params.iter().find_map(unset) {
                format!("iChannel{at} is unset; name its source: // @channel {at} picture.png")
            } else {
                continue;
            };
            return Err(Fault::new(&pass.origin.file, None, text).into());
        }
        Ok(())
    }
}
