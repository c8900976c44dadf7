//! Runs the benchmark optimised, as it should be run.

use std::path::Path;

use crate::error::Error;
use crate::repository;

pub fn run(root: &Path, options: &[String]) -> Result<(), Error> {
    const COMMAND: &str = "cargo run --release --package pixelferry-cli -- bench";
    // The command runs in the caller's folder, not in the root, because file options are relative to that folder.
    let status = repository::cargo()
        .args(["run", "--quiet", "--release", "--package", "pixelferry-cli", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .args(["--", "bench"])
        .args(options)
        .status()
        .map_err(|source| Error::Start { command: COMMAND, source })?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Command { command: COMMAND, message: status.to_string() })
}
