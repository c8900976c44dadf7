//! A file and its companions, as the passes of a frame.

use crate::error::{Fault, PlayError};
use crate::input::Param;
use crate::pass::{BUFFERS, Pass, PassLanguage, Piece, Source, Wishes};
use crate::slider::Slider;
use crate::text::{self, Dialect};
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
    /// Whether the shaders count rows from the top.
    pub is_from_top: bool,
}

impl Program {
    /// Reads a file, and buffers and common code beside it: for `rain.glsl`, the files `rain.bufA.glsl` to
    /// `rain.bufD.glsl` and `rain.common.glsl`.
    ///
    /// # Errors
    /// [`PlayError::File`], [`PlayError::Ending`], [`PlayError::Backend`], and [`PlayError::Faults`] for errors in
    /// annotations and elsewhere that are found before compiling.
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
        // The picture's pass goes last.
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

    /// Returns the files that a program can consist of, whether they exist or not.
    pub fn beside(file: &Path) -> Result<Vec<PathBuf>, PlayError> {
        let dialect = Dialect::of(file)?;
        let buffers = BUFFERS.iter().map(|letter| format!("buf{letter}"));
        let parts = buffers.chain(["common".into()]);
        let others = parts.map(|part| file.with_extension(format!("{part}.{}", dialect.ending())));
        Ok(std::iter::once(file.to_owned()).chain(others).collect())
    }

    /// Checks that named buffers exist, and that every channel that a kernel reads is set.
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
                        "a channel names buffer {letter}, but there is no file for it: create NAME.buf{letter}.* \
                         beside NAME.*"
                    );
                    return Err(of(pass, text));
                }
            }
            let bare = |param: &Param| match param {
                Param::Channel(at) if pass.channels[*at].is_none() => Some(*at),
                _ => None,
            };
            if let Some(at) = pass.params.iter().find_map(bare) {
                let text = format!("iChannel{at} is unset; name its source: // @channel {at} picture.png");
                return Err(of(pass, text));
            }
        }
        Ok(())
    }

    /// Translates passes that need it. Call it in the trial process: the translator may crash the process.
    ///
    /// # Errors
    /// [`PlayError::Faults`], which mention that OpenGL may run the shader.
    pub fn translate(&mut self) -> Result<(), PlayError> {
        for pass in self.passes.iter_mut().filter(|pass| pass.language == PassLanguage::GlslToWgsl) {
            let wgsl = pixelferry::api::wgsl::from_glsl(&pass.text).map_err(|error| {
                let mut faults = pass.origin.faults(&error.to_string(), &pass.text);
                let only = " (OpenGL may accept what this translation does not: --backend gl)";
                faults.iter_mut().for_each(|fault| fault.text += only);
                PlayError::Faults(faults)
            })?;
            pass.text = wgsl + &text::shadertoy::entry(&self.sliders);
            pass.language = PassLanguage::Wgsl;
            // Line numbers of the translated text have no meaning for the user.
            (pass.origin.common, pass.origin.before) = (None, u32::MAX);
        }
        Ok(())
    }
}
