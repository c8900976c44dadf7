//! Reasons why a file cannot be played, and errors in a shader with their positions.

use pixelferry::{Error, SaveError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error in the user's shader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// File that contains the error.
    pub file: PathBuf,
    /// Line from 1, if the compiler reported it.
    pub line: Option<u32>,
    /// Column from 1, if the compiler reported it.
    pub column: Option<u32>,
    /// Message of the compiler.
    pub text: String,
}

impl Fault {
    /// An error that was found before compiling.
    pub(crate) fn new(file: &Path, line: Option<u32>, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: None, text: text.into() }
    }
}

impl From<Fault> for PlayError {
    fn from(fault: Fault) -> Self {
        Self::Faults(vec![fault])
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.file_name().unwrap_or(self.file.as_os_str()).display();
        let place = [self.line, self.line.and(self.column)].into_iter().flatten().map(|at| format!(":{at}"));
        write!(f, "{name}{}: {}", place.collect::<String>(), self.text)
    }
}

/// Reason why a file cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// Writing the film failed.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// Reading a file failed.
    #[error("{}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file's extension belongs to no supported language, or the backend does not run it.
    #[error("{}: {reason}", file.display())]
    Language {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what is supported.
        reason: String,
    },
    /// The shader is invalid, or its trial run failed.
    #[error("{}", lines(.0))]
    Faults(Vec<Fault>),
    /// Reading a channel's picture, video or stream failed.
    #[error("channel {channel}: {}: {reason}", file.display())]
    Channel {
        /// Number of the channel.
        channel: usize,
        /// The file, or `stream:NAME`.
        file: PathBuf,
        /// Reason in words.
        reason: String,
    },
    /// An option does not suit the shader.
    #[error("{0}")]
    Option(String),
    /// The trial process did not start, or ended before it was ready.
    #[error("the trial process: {0}")]
    Trial(String),
    /// There is no OpenGL for a fragment shader.
    #[error("{} is a fragment shader, which needs OpenGL 3.3 or OpenGL ES 3.0: {reason}", file.display())]
    NoOpenGl {
        /// The file.
        file: PathBuf,
        /// Why there is no OpenGL.
        reason: Error,
    },
    /// OpenGL refused what a fragment shader needs.
    #[error("OpenGL: {0}")]
    OpenGl(String),
    /// A backend or the display reported an error.
    #[error(transparent)]
    Driver(#[from] Error),
    /// Saving the picture failed.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl PlayError {
    /// Converts the error to faults: those of the shader, or one for the whole error.
    pub fn into_faults(self, file: &Path) -> Vec<Fault> {
        match self {
            Self::Faults(faults) => faults,
            // A fault's text begins with its file, so leave the file out here.
            Self::File { file, source } => vec![Fault::new(&file, None, source.to_string())],
            other => vec![Fault::new(file, None, other.to_string())],
        }
    }
}

/// Formats faults, one per line.
pub fn lines(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}
