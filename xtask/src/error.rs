//! What can go wrong in a chore.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot run `{command}`: {source}; is it installed and in PATH?")]
    Start { command: &'static str, source: io::Error },
    #[error("`{command}` failed: {message}")]
    Command { command: &'static str, message: String },
    #[error("the folder of this package, {}, lies in no repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{count} of {checked} files are longer than {limit} lines; split each by what its parts are about")]
    TooLong { count: usize, checked: usize, limit: usize },
    #[error("no file to check: git lists none, so the check would prove nothing")]
    NothingToCheck,
    #[error("cannot encode {}: {source}", path.display())]
    Picture { path: PathBuf, source: image::ImageError },
    #[error("cannot encode {}: {source}", path.display())]
    Clip { path: PathBuf, source: y4m::Error },
    #[error(
        "no {library} in {}; get it with `pip install --target nvrtc nvidia-cuda-nvrtc-cu12==12.0.140`, then give \
         nvrtc/nvidia/cuda_nvrtc/lib",
        folder.display()
    )]
    NoLibrary { folder: PathBuf, library: &'static str },
    #[error("{} cannot be put on the loader's path: {source}", folder.display())]
    LoaderPath { folder: PathBuf, source: std::env::JoinPathsError },
}

impl Error {
    /// For `map_err`: names the file and what was being done to it.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
