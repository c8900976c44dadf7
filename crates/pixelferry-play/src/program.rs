//! A file, and those beside it, as the passes of a frame.

use crate::error::{Fault, PlayError};
use crate::input::Param;
use crate::pass::{BUFFERS, Pass, Piece, Source, Tongue, Wishes};
use crate::slider::Slider;
use crate::text::{self, Dialect};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The passes of a frame, as texts that a backend compiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The file that was named.
    pub file: PathBuf,
    /// Buffers in their order, then the picture.
    pub passes: Vec<Pass>,
    /// Numbers that the user moves.
    pub sliders: Vec<Slider>,
    /// True where texts count rows from the top.
    pub is_from_top: bool,
}

impl Program {
    /// Reads a file, and the buffers and common text beside it: of `rain.glsl` these are `rain.bufA.glsl` to `rain.bufD.glsl` and
    /// `rain.common.glsl`. Of ISF it is the shader of its vertices, `rain.vs`.
    ///
    /// # Errors
    /// [`PlayError::File`], [`PlayError::Ending`], [`PlayError::Backend`], and [`PlayError::Faults`] for annotations and what is read
    /// before a compiler sees it.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let dialect = Dialect::of(file)?;
        dialect.runs_on(file, wishes.backend)?;
        let mut pieces = vec![(None, Piece::read(file, wishes)?)];
        let mut beside = None;
        for (at, path) in Self::beside(file)?.iter().skip(1).enumerate().filter(|(_, path)| path.is_file()) {
            let piece = Piece::read(path, wishes)?;
            if at < BUFFERS.len() && dialect != Dialect::Isf {
                pieces.push((Some(at), piece));
            } else {
                beside = Some(piece);
            }
        }
        // The picture comes last.
        pieces.rotate_left(1);
        let mut sliders: Vec<Slider> = Vec::new();
        for slider in pieces.iter().map(|(_, piece)| piece).chain(&beside).flat_map(|piece| &piece.sliders) {
            if !sliders.iter().any(|known| known.name == slider.name) {
                sliders.push(slider.clone());
            }
        }
        let (passes, sliders) = text::passes(dialect, &pieces, beside.as_ref(), sliders)?;
        let program = Self { file: file.to_owned(), passes, sliders, is_from_top: dialect.is_from_top() };
        program.check()?;
        Ok(program)
    }

    /// Files that a program is read from, whether they are there or not.
    pub fn beside(file: &Path) -> Result<Vec<PathBuf>, PlayError> {
        let dialect = Dialect::of(file)?;
        if dialect == Dialect::Isf {
            return Ok(vec![file.to_owned(), file.with_extension("vs")]);
        }
        let buffers = BUFFERS.iter().map(|letter| format!("buf{letter}"));
        let parts = buffers.chain(["common".into()]);
        let others = parts.map(|part| file.with_extension(format!("{part}.{}", dialect.ending())));
        Ok(std::iter::once(file.to_owned()).chain(others).collect())
    }

    /// Finds out whether what channels name is there, and each channel that a kernel takes.
    fn check(&self) -> Result<(), PlayError> {
        let of = |pass: &Pass, text: String| {
            PlayError::Faults(vec![Fault { file: pass.origin.file.clone(), line: None, column: None, text }])
        };
        let written: Vec<_> = self.passes.iter().filter_map(|pass| pass.buffer).collect();
        for pass in &self.passes {
            for channel in pass.channels.iter().flatten() {
                if let Source::Buffer(at) = channel.source
                    && !written.contains(&at)
                {
                    let letter = BUFFERS[at];
                    let text = format!(
                        "a channel is buffer {letter}, which no file writes: it is NAME.buf{letter}.* beside NAME.*"
                    );
                    return Err(of(pass, text));
                }
            }
            let bare = |param: &Param| match param {
                Param::Channel(at) if !matches!(pass.channels.get(*at), Some(Some(_))) => Some(*at),
                _ => None,
            };
            if let Some(at) = pass.params.iter().find_map(bare) {
                let text = format!("nothing is bound to iChannel{at}; name it: // @channel {at} picture.png");
                return Err(of(pass, text));
            }
        }
        Ok(())
    }

    /// True for fragment shaders; else the passes are kernels.
    pub fn is_of_fragments(&self) -> bool {
        self.passes.last().is_some_and(|pass| pass.language == Tongue::Fragment)
    }
}
