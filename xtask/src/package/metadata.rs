//! What cargo says of the workspace.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// The crates that are published, by name, and where builds go.
pub struct Workspace {
    pub published: Vec<String>,
    pub target: PathBuf,
}

#[derive(Deserialize)]
struct Answer {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    /// The registries it may go to: none of them where the manifest says `publish = false`.
    publish: Option<Vec<String>>,
}

impl Workspace {
    /// Asks `cargo metadata`.
    pub fn read(root: &Path) -> Result<Self, Error> {
        const COMMAND: &str = "cargo metadata";
        let output = super::cargo()
            .args(["metadata", "--locked", "--no-deps", "--format-version", "1"])
            .current_dir(root)
            .output()
            .map_err(|source| Error::Start { command: COMMAND, source })?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::Command { command: COMMAND, message });
        }
        let answer: Answer = serde_json::from_slice(&output.stdout)
            .map_err(|error| Error::Command { command: COMMAND, message: error.to_string() })?;
        let published = answer.packages.into_iter().filter(|package| package.publish != Some(Vec::new()));
        Ok(Self { published: published.map(|package| package.name).collect(), target: answer.target_directory })
    }
}
