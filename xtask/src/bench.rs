//! Runs the benchmark as it should be run: optimized.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::error::Error;

pub fn run(root: &Path, options: &[String]) -> Result<(), Error> {
    const COMMAND: &str = "cargo run --release --package pixelferry-cli -- bench";
    // Where the caller stands, not in the root: files among the options are meant from there.
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
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
