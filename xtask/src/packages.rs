//! The packages of all workspaces, by name: a check that uses paths finds nothing once a folder moves.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::repository;

#[derive(Debug)]
pub struct Package {
    pub name: String,
    /// Path from the root of the repository.
    pub folder: PathBuf,
    /// Whether it is a member of the root's workspace.
    pub is_main: bool,
    pub targets: Vec<Target>,
    /// Names of the packages that its library or program imports, with those of its build script.
    pub imports: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Target {
    pub src_path: PathBuf,
    /// Whether `cargo test` builds it.
    pub test: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<FoundPackage>,
}

#[derive(Deserialize)]
struct FoundPackage {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    dependencies: Vec<FoundDependency>,
}

#[derive(Deserialize)]
struct FoundDependency {
    name: String,
    /// `dev`, `build`, or none for what the library or program imports.
    kind: Option<String>,
}

/// Returns all packages, ordered by name.
pub fn all(root: &Path) -> Result<Vec<Package>, Error> {
    let mut found = Vec::new();
    for file in repository::tracked(root, &["*Cargo.toml"])? {
        let manifest = root.join(&file);
        // The file may be deleted in the working tree but not in the index.
        if !manifest.exists()
            || !fs::read_to_string(&manifest).map_err(Error::file("read", &manifest))?.contains("[workspace]")
        {
            continue;
        }
        let mut cargo = repository::cargo();
        cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"]);
        // Run in the root, because a folder may select its own toolchain.
        let printed = repository::printed("cargo metadata", cargo.arg(&manifest).current_dir(root))?;
        let metadata: Metadata = serde_json::from_slice(&printed)?;
        found.extend(metadata.packages.into_iter().map(|package| {
            let folder = package.manifest_path.parent().unwrap_or(root);
            Package {
                folder: folder.strip_prefix(root).unwrap_or(folder).to_path_buf(),
                name: package.name,
                is_main: file == Path::new("Cargo.toml"),
                targets: package.targets,
                imports: (package.dependencies.into_iter())
                    .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
                    .map(|dependency| dependency.name)
                    .collect(),
            }
        }));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Returns the package of a file: the one with the deepest folder that contains it.
pub fn of_file<'a>(packages: &'a [Package], file: &Path) -> Option<&'a Package> {
    let around = packages.iter().filter(|package| file.starts_with(&package.folder));
    around.max_by_key(|package| package.folder.components().count())
}

/// Returns names in a check's table that no package has, and that the check would silently ignore.
pub fn missing<'a>(packages: &[Package], names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    names.into_iter().filter(|name| !packages.iter().any(|package| package.name == *name)).collect()
}
