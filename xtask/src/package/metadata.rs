//! What cargo says of the workspace.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::repository;

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
        let arguments = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
        let output = repository::printed(COMMAND, super::cargo().args(arguments).current_dir(root))?;
        let answer: Answer = serde_json::from_slice(&output)
            .map_err(|error| Error::Command { command: COMMAND, message: error.to_string() })?;
        let published = answer.packages.into_iter().filter(|package| package.publish != Some(Vec::new()));
        Ok(Self { published: published.map(|package| package.name).collect(), target: answer.target_directory })
    }
}
