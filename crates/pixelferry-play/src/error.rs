//! Reasons why a file is not played, and faults in a text by their places.

use pixelferry::{Error, SaveError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Fault in a text of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its file.
    pub file: PathBuf,
    /// Line and column there, from 1 on, as far as the compiler told them.
    pub line: Option<u32>,
    /// The column.
    pub column: Option<u32>,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.file_name().unwrap_or(self.file.as_os_str()).display())?;
        for place in [self.line, self.line.and(self.column)].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// Reason why a file is not played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The film was not written.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// A file was not read.
    #[error("{}: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The ending is of no language that is played.
    #[error("{}: the ending says the language; the endings are {endings}", file.display())]
    Ending {
        /// The file.
        file: PathBuf,
        /// Those that there are.
        endings: String,
    },
    /// The backend does not run the language.
    #[error("{}: {language} does not run on the backend '{backend}'; take {others}", file.display())]
    Backend {
        /// The file.
        file: PathBuf,
        /// Its language.
        language: &'static str,
        /// The backend that was asked for.
        backend: &'static str,
        /// Those that run it.
        others: String,
    },
    /// The text is wrong, or did not run in the trial.
    #[error("{}", lines(.0))]
    Faults(Vec<Fault>),
    /// A picture, video or stream of a channel was not read.
    #[error("channel {channel}: {}: {reason}", file.display())]
    Channel {
        /// The channel.
        channel: usize,
        /// The file, or `stream:NAME`.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An option does not fit the text.
    #[error("{0}")]
    Option(String),
    /// The process in which texts are tried does not start, or ended before it was ready.
    #[error("the process in which texts are tried: {0}")]
    Trial(String),
    /// A backend or the display refused.
    #[error(transparent)]
    Driver(#[from] Error),
    /// The controls were not drawn.
    #[error(transparent)]
    Paint(#[from] pixelferry_view::paint::PaintError),
    /// The picture was not saved.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl PlayError {
    /// The error as faults: those of the text, or one that says all.
    pub fn into_faults(self, file: &std::path::Path) -> Vec<Fault> {
        match self {
            Self::Faults(faults) => faults,
            // A fault begins with its file.
            Self::File { file, source } => vec![Fault { file, line: None, column: None, text: source.to_string() }],
            other => vec![Fault { file: file.to_owned(), line: None, column: None, text: other.to_string() }],
        }
    }
}

/// Faults, a line each.
pub fn lines(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}
