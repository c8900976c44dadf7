//! Errors of a chore.

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
    #[error("the folder of this package, {}, is not in a repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{count} of {checked} files are longer than {limit} lines; split each by topic")]
    TooLong { count: usize, checked: usize, limit: usize },
    #[error("{0} Rust files do not begin with a sentence that says what they hold (`//! ...`)")]
    Silent(usize),
    #[error("no file to check: git lists none, so the check would prove nothing")]
    NothingToCheck,
    #[error("cannot parse {}: line {}: {source}", path.display(), source.span().start().line)]
    Source { path: PathBuf, source: syn::Error },
    #[error("{0} imports, rooms or starts of threads are out of order; move what two sides need to a file below both")]
    Imports(usize),
    #[error("package {0} belongs to no house; add it to one in xtask/src/houses.rs")]
    NoHouse(String),
    #[error("there is no package {0}, which a table of xtask names: fix the table, or it checks nothing")]
    NoPackage(String),
    #[error(
        "house {house} is {lines} lines of product code above its ceiling in xtask/src/houses.rs; remove that many"
    )]
    AboveCeiling { house: &'static str, lines: usize },
    #[error(
        "{0} names of types or files, listed above, are participles or a bare word such as `State`; take a noun that says what it \
         is, as `HeldFrame`"
    )]
    Names(usize),
    #[error(
        "{page} has no place for the table '{name}': a line `<!-- cargo xtask figures: {name} -->` and a line `<!-- end -->`"
    )]
    NoFigures { page: &'static str, name: &'static str },
    #[error("no sample matches the row '{row}' of the table '{table}' (xtask/src/figures/tables.rs)")]
    NoSamples { table: &'static str, row: &'static str },
    #[error(
        "the features '{features}' of pixelferry build {crates} crates, and at most {most} are allowed; remove a dependency \
         (xtask/src/feature_costs.rs)"
    )]
    TooManyCrates { features: &'static str, crates: usize, most: usize },
    #[error("{page} has no row '{row}'; put the table of `cargo xtask feature-costs` there")]
    OldCosts { page: &'static str, row: String },
    #[error("cannot parse JSON: {0}")]
    Metadata(#[from] serde_json::Error),
    #[error("{0} problems in the pages; each is listed above")]
    Pages(usize),
    #[error(
        "no {library} in {}; get it with `pip install --target nvrtc nvidia-cuda-nvrtc-cu12==12.0.140`, then give \
         nvrtc/nvidia/cuda_nvrtc/lib",
        folder.display()
    )]
    NoLibrary { folder: PathBuf, library: &'static str },
    #[error("package {name} cannot be published: {problem}")]
    Package { name: String, problem: String },
    #[error("cannot add {} to the loader's path: {source}", folder.display())]
    LoaderPath { folder: PathBuf, source: std::env::JoinPathsError },
}

impl Error {
    /// For `map_err`: adds the file and the action.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
