//! Reasons why a command ends early.

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Net(#[from] pixelferry_net::Error),
    #[error(transparent)]
    Pixelferry(#[from] pixelferry::Error),
    #[error("frame {0} is late, and no worker lives; start one: pixelferry-net worker --connect ...")]
    Alone(u64),
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
    #[error("cannot write {}: {reason}", file.display())]
    File { file: std::path::PathBuf, reason: std::io::Error },
    #[error("the report cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{0}; give a level such as info, or a part with its level such as pixelferry_net=debug")]
    Log(String),
    #[error("signals cannot be heard: {0}")]
    Signals(std::io::Error),
    #[error("cannot answer Prometheus at {address}: {reason}. Is it taken? Try another port")]
    Metrics { address: std::net::SocketAddr, reason: std::io::Error },
    #[error("--user {0} needs a password: give --password-file, or set PIXELFERRY_PASSWORD")]
    Password(String),
    #[error("cannot read {}: {reason}", file.display())]
    Secret { file: std::path::PathBuf, reason: std::io::Error },
    #[error("no thread can be started: {0}")]
    Thread(std::io::Error),
    #[cfg(feature = "web")]
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    #[cfg(feature = "web")]
    #[error("a picture of the scene is damaged: {0}")]
    Wire(#[from] pixelferry_media::wire::WireError),
    #[cfg(feature = "web")]
    #[error("no picture of {0} came; does anybody serve it?")]
    Unserved(String),
}
