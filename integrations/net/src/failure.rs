//! Reasons why a command ends early.

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Net(#[from] pixelferry_net::Error),
    #[error(transparent)]
    Pixelferry(#[from] pixelferry::Error),
    #[error("frame {0} is late: {1} tiles are missing, and no worker lives; start one")]
    Alone(u64, usize),
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
    #[error("cannot write {}: {reason}", file.display())]
    File { file: std::path::PathBuf, reason: std::io::Error },
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[cfg(feature = "web")]
    #[error("no thread can be started: {0}")]
    Thread(std::io::Error),
    #[cfg(feature = "web")]
    #[error(transparent)]
    Video(#[from] pixelferry_media::video::Error),
    #[cfg(feature = "web")]
    #[error("no picture of {0} came; does anybody serve it?")]
    Unserved(String),
}
