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
    /// `rain.common.glsl`.
    ///
    /// # Errors
    /// [`PlayError::File`], [`PlayError::Ending`], [`PlayError::Backend`], and [`PlayError::Faults`] for annotations and what is read
    /// before a compiler sees it.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let dialect = Dialect::of(file)?;
        dialect.runs_on(file, wishes.backend)?;
        let mut pieces = vec![(None, Piece::read(file, wishes)?)];
        let mut common = None;
        for (at, path) in Self::beside(file)?.iter().skip(1).enumerate().filter(|(_, path)| path.is_file()) {
            let piece = Piece::read(path, wishes)?;
            if at < BUFFERS.len() {
                pieces.push((Some(at), piece));
            } else {
                common = Some(piece);
            }
        }
        // The picture comes last.
        pieces.rotate_left(1);
        let mut sliders: Vec<Slider> = Vec::new();
        for slider in pieces.iter().map(|(_, piece)| piece).chain(&common).flat_map(|piece| &piece.sliders) {
            if !sliders.iter().any(|known| known.name == slider.name) {
                sliders.push(slider.clone());
            }
        }
        let (passes, sliders) = text::passes(dialect, &pieces, common.as_ref(), sliders, wishes.backend)?;
        let program = Self { file: file.to_owned(), passes, sliders, is_from_top: dialect.is_from_top() };
        program.check()?;
        Ok(program)
    }

    /// Files that a program is read from, whether they are there or not.
    pub fn beside(file: &Path) -> Result<Vec<PathBuf>, PlayError> {
        let dialect = Dialect::of(file)?;
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
                Param::Channel(at) if pass.channels[*at].is_none() => Some(*at),
                _ => None,
            };
            if let Some(at) = pass.params.iter().find_map(bare) {
                let text = format!("nothing is bound to iChannel{at}; name it: // @channel {at} picture.png");
                return Err(of(pass, text));
            }
        }
        Ok(())
    }

    /// Translates what is to be translated. Call it in the trial: the translator may end the process.
    ///
    /// # Errors
    /// [`PlayError::Faults`], which say that the text runs on OpenGL.
    pub fn translate(&mut self) -> Result<(), PlayError> {
        for pass in self.passes.iter_mut().filter(|pass| pass.language == Tongue::GlslToWgsl) {
            let wgsl = wgsl_kernel::from_glsl(&pass.text).map_err(|error| {
                let mut faults = pass.origin.faults(&error.to_string(), &pass.text);
                let only = " (OpenGL may take what this translation does not: --backend gl)";
                faults.iter_mut().for_each(|fault| fault.text += only);
                PlayError::Faults(faults)
            })?;
            pass.text = wgsl + &text::shadertoy::entry(&self.sliders);
            pass.language = Tongue::Wgsl;
            // Lines of what was translated are nobody's.
            (pass.origin.common, pass.origin.before) = (None, u32::MAX);
        }
        Ok(())
    }
}
