//! The packages of all workspaces, by their names: a check that goes by paths sees nothing any more once a folder moves.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::repository;

#[derive(Debug)]
pub struct Package {
    pub name: String,
    /// From the root of the repository on.
    pub folder: PathBuf,
    /// A member of the root's workspace.
    pub is_main: bool,
    pub targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub struct Target {
    pub src_path: PathBuf,
    /// True where `cargo test` builds it.
    pub test: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

/// All of them, ordered by name.
pub fn all(root: &Path) -> Result<Vec<Package>, Error> {
    let mut found = Vec::new();
    for file in repository::tracked(root, &["*Cargo.toml"])? {
        let manifest = root.join(&file);
        // Deleted in the work tree, it may be in the index still.
        if !manifest.exists()
            || !fs::read_to_string(&manifest).map_err(Error::file("read", &manifest))?.contains("[workspace]")
        {
            continue;
        }
        let mut cargo = repository::cargo();
        cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
        // Not there: a guest's own toolchain is chosen by its folder.
        let printed = repository::printed("cargo metadata", cargo.arg(&manifest).current_dir(root))?;
        let metadata: Metadata = serde_json::from_slice(&printed)?;
        found.extend(metadata.packages.into_iter().map(|package| {
            let folder = package.manifest_path.parent().unwrap_or(root);
            Package {
                folder: folder.strip_prefix(root).unwrap_or(folder).to_path_buf(),
                name: package.name,
                is_main: file == Path::new("Cargo.toml"),
                targets: package.targets,
            }
        }));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The package that a file belongs to: the one whose folder is the deepest that has it.
pub fn of_file<'a>(packages: &'a [Package], file: &Path) -> Option<&'a Package> {
    let around = packages.iter().filter(|package| file.starts_with(&package.folder));
    around.max_by_key(|package| package.folder.components().count())
}

/// Names of a check's table that no package has, and that the check would silently pass over.
pub fn missing<'a>(packages: &[Package], names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    names.into_iter().filter(|name| !packages.iter().any(|package| package.name == *name)).collect()
}
