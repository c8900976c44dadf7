//! The supported languages, one table row each.

use crate::error::PlayError;
use pixelferry::BackendChoice;
use pixelferry::command::ApiChoice as _;
use std::path::Path;

/// Language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Dialect {
    Shadertoy,
    Isf,
    GlslViewer,
    Glsl,
    Wgsl,
    OpenClC,
    CudaCpp,
}

/// A language, its file name extension, its name, and the backends that run it; the first is the default.
type DialectRow = (Dialect, &'static str, &'static str, &'static [BackendChoice]);

const ROWS: [DialectRow; 7] = [
    (Dialect::Shadertoy, "glsl", "Shadertoy's GLSL", &[BackendChoice::Gl]),
    (Dialect::Isf, "fs", "ISF", &[BackendChoice::Gl]),
    (Dialect::GlslViewer, "frag", "a fragment shader with glslViewer's names", &[BackendChoice::Gl]),
    (Dialect::Glsl, "comp", "a compute shader in GLSL", &[BackendChoice::Gl]),
    (Dialect::Wgsl, "wgsl", "WGSL", &[BackendChoice::Gl, BackendChoice::Vulkan, BackendChoice::Wgpu]),
    (Dialect::OpenClC, "cl", "OpenCL C", &[BackendChoice::OpenCl]),
    (Dialect::CudaCpp, "cu", "CUDA C++", &[BackendChoice::Cuda]),
];

impl Dialect {
    /// Returns the language for a file's extension.
    ///
    /// # Errors
    /// [`PlayError::Language`].
    pub fn of(file: &Path) -> Result<Self, PlayError> {
        Self::row(file).map(|row| row.0)
    }

    fn row(file: &Path) -> Result<&'static DialectRow, PlayError> {
        let own = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let found = ROWS.iter().find(|(_, ending, ..)| own.as_deref() == Some(ending));
        found.ok_or_else(|| {
            let all: Vec<_> = ROWS.iter().map(|(_, ending, about, _)| format!(".{ending} ({about})")).collect();
            let reason = format!("unknown file name extension; it selects the language: use one of {}", all.join(", "));
            PlayError::Language { file: file.to_owned(), reason }
        })
    }

    /// Returns whether the language is a fragment shader's; the others are kernels.
    pub const fn is_of_fragments(self) -> bool {
        matches!(self, Self::Shadertoy | Self::Isf | Self::GlslViewer)
    }
}

/// Returns the backend for a file: the requested one, or the default of its language.
///
/// # Errors
/// [`PlayError::Language`].
pub fn backend_for(file: &Path, asked: BackendChoice) -> Result<BackendChoice, PlayError> {
    let (_, _, language, backends) = Dialect::row(file)?;
    match asked {
        BackendChoice::Auto => Ok(backends[0]),
        _ if backends.contains(&asked) => Ok(asked),
        _ => {
            let others = backends.iter().map(|backend| backend.name()).collect::<Vec<_>>().join(" or ");
            let reason = format!("the backend '{}' does not run {language}; use {others}", asked.name());
            Err(PlayError::Language { file: file.to_owned(), reason })
        }
    }
}
