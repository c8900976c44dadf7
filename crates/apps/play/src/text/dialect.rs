//! The supported languages, one table row each.

use crate::error::PlayError;
use pixelferry::BackendChoice;
use pixelferry::command::ApiChoice as _;
use std::path::Path;

/// Language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Shadertoy,
    Isf,
    GlslViewer,
    Glsl,
    Wgsl,
    OpenClC,
    CudaCpp,
}

/// Properties of a language.
struct DialectRow {
    dialect: Dialect,
    ending: &'static str,
    about: &'static str,
    /// Backends that run it; the first is the default.
    backends: &'static [BackendChoice],
    is_from_top: bool,
}

const ROWS: [DialectRow; 7] = [
    row(Dialect::Shadertoy, "glsl", "Shadertoy's GLSL", &[BackendChoice::Gl], false),
    row(Dialect::Isf, "fs", "ISF", &[BackendChoice::Gl], false),
    row(Dialect::GlslViewer, "frag", "a fragment shader with glslViewer's names", &[BackendChoice::Gl], false),
    row(Dialect::Glsl, "comp", "a compute shader in GLSL", &[BackendChoice::Gl], true),
    row(Dialect::Wgsl, "wgsl", "WGSL", &[BackendChoice::Gl, BackendChoice::Vulkan, BackendChoice::Wgpu], true),
    row(Dialect::OpenClC, "cl", "OpenCL C", &[BackendChoice::OpenCl], true),
    row(Dialect::CudaCpp, "cu", "CUDA C++", &[BackendChoice::Cuda], true),
];

const fn row(
    dialect: Dialect,
    ending: &'static str,
    about: &'static str,
    backends: &'static [BackendChoice],
    is_from_top: bool,
) -> DialectRow {
    DialectRow { dialect, ending, about, backends, is_from_top }
}

impl Dialect {
    fn row(self) -> &'static DialectRow {
        ROWS.iter().find(|row| row.dialect == self).unwrap_or(&ROWS[0])
    }

    /// Returns the language for a file's extension.
    ///
    /// # Errors
    /// [`PlayError::Ending`].
    pub fn of(file: &Path) -> Result<Self, PlayError> {
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let found = ROWS.iter().find(|row| ending.as_deref() == Some(row.ending));
        found.map(|row| row.dialect).ok_or_else(|| {
            let all: Vec<_> = ROWS.iter().map(|row| format!(".{} ({})", row.ending, row.about)).collect();
            PlayError::Ending { file: file.to_owned(), endings: all.join(", ") }
        })
    }

    /// Returns whether the language is a fragment shader's; the others are kernels.
    pub const fn is_of_fragments(self) -> bool {
        matches!(self, Self::Shadertoy | Self::Isf | Self::GlslViewer)
    }

    pub fn ending(self) -> &'static str {
        self.row().ending
    }

    /// Returns whether the language counts rows from the top.
    pub fn is_from_top(self) -> bool {
        self.row().is_from_top
    }

    /// Returns the backend: the requested one, or the language's default.
    pub fn backend(self, asked: BackendChoice) -> BackendChoice {
        if asked == BackendChoice::Auto { self.row().backends[0] } else { asked }
    }

    /// Checks whether a backend runs the language.
    ///
    /// # Errors
    /// [`PlayError::Backend`].
    pub fn runs_on(self, file: &Path, asked: BackendChoice) -> Result<(), PlayError> {
        let row = self.row();
        if row.backends.contains(&self.backend(asked)) {
            return Ok(());
        }
        let others: Vec<_> = row.backends.iter().map(|backend| backend.name()).collect();
        let (file, backend) = (file.to_owned(), asked.name());
        Err(PlayError::Backend { file, language: row.about, backend, others: others.join(" or ") })
    }
}

/// Returns the backend for a file: the requested one, or the default of its language.
///
/// # Errors
/// [`PlayError::Ending`] and [`PlayError::Backend`].
pub fn backend_for(file: &Path, asked: BackendChoice) -> Result<BackendChoice, PlayError> {
    let dialect = Dialect::of(file)?;
    dialect.runs_on(file, asked)?;
    Ok(dialect.backend(asked))
}
