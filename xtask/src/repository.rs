//! The root of the repository, and tracked files.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

/// The folder with the workspace's manifest.
pub fn root() -> Result<PathBuf, Error> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().map(Path::to_path_buf).ok_or_else(|| Error::NoRepository(package.to_path_buf()))
}

/// Returns tracked files whose names match one of the patterns, relative to `root`.
pub fn tracked(root: &Path, patterns: &[&str]) -> Result<Vec<PathBuf>, Error> {
    const COMMAND: &str = "git ls-files";
    let listed = printed(COMMAND, Command::new("git").args(["ls-files", "-z", "--"]).args(patterns).current_dir(root))?;
    let names = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())).collect())
}

/// The cargo that runs this program.
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns a command's output, or an error with its `name` if it fails.
pub fn printed(name: &'static str, command: &mut Command) -> Result<Vec<u8>, Error> {
    let output = command.output().map_err(|source| Error::Start { command: name, source })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Command { command: name, message });
    }
    Ok(output.stdout)
}
