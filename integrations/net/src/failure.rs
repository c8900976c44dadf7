//! Reason why a command ends early.

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Net(#[from] pixelferry_net::Error),
    #[error(transparent)]
    Pixelferry(#[from] pixelferry::Error),
    #[error("frame {0} is late, and there are no workers; start one: pixelferry-net worker --connect ...")]
    Alone(u64),
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
    #[error("cannot write {}: {reason}", file.display())]
    File { file: std::path::PathBuf, reason: std::io::Error },
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}; give a level such as info, or a part with its level such as pixelferry_net=debug")]
    Log(String),
    #[error("cannot listen for signals: {0}")]
    Signals(std::io::Error),
    #[error("cannot serve metrics on {address}: {reason}; if the port is in use, try another one")]
    Metrics { address: std::net::SocketAddr, reason: std::io::Error },
    #[error("--user {0} needs a password: use --password-file, or set PIXELFERRY_PASSWORD")]
    Password(String),
    #[error("cannot read {}: {reason}", file.display())]
    Secret { file: std::path::PathBuf, reason: std::io::Error },
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    #[cfg(feature = "web")]
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    #[cfg(feature = "web")]
    #[error("invalid picture of the scene: {0}")]
    Wire(#[from] pixelferry_media::wire::WireError),
    #[cfg(feature = "web")]
    #[error("no picture of {0} arrived; is the scene being served?")]
    Unserved(String),
}
