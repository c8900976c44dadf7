//! Metadata of the workspace, as cargo reports it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::repository;

/// The published crates, and the build folder.
pub struct Workspace {
    pub published: Vec<Package>,
    pub target: PathBuf,
}

#[derive(Deserialize)]
struct Answer {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

/// One crate.
#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    version: String,
    /// Registries that it may be published to; empty for `publish = false`.
    publish: Option<Vec<String>>,
}

impl Package {
    /// Name of its packed file and folder.
    pub fn packed(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }
}

impl Workspace {
    /// Runs `cargo metadata`.
    pub fn read(root: &Path) -> Result<Self, Error> {
        const COMMAND: &str = "cargo metadata";
        let arguments = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
        let output = repository::printed(COMMAND, repository::cargo().args(arguments).current_dir(root))?;
        let answer: Answer = serde_json::from_slice(&output)
            .map_err(|error| Error::Command { command: COMMAND, message: error.to_string() })?;
        let published = answer.packages.into_iter().filter(|package| package.publish != Some(Vec::new()));
        Ok(Self { published: published.collect(), target: answer.target_directory })
    }
}
