//! The PTX in the tree. An example of the crate that ships it generates it, so that this program builds quickly.

use std::env;
use std::path::Path;

use crate::error::Error;
use crate::repository;

const LIBRARY: &str = if cfg!(windows) { "nvrtc64_120_0.dll" } else { "libnvrtc.so.12" };
const LOADER_PATH: &str = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };

/// `nvrtc` is the compiler's folder, if the loader does not search it.
pub fn run(root: &Path, nvrtc: Option<&Path>, check: bool) -> Result<(), Error> {
    const COMMAND: &str = "cargo run --package cuda-backend --example ptx";
    let mut cargo = repository::cargo();
    cargo.args(["run", "--quiet", "--package", "cuda-backend", "--example", "ptx", "--"]).current_dir(root);
    cargo.args(check.then_some("--check"));
    if let Some(folder) = nvrtc {
        // The generator runs in another folder than the caller's.
        let folder = folder.canonicalize().map_err(Error::file("open", folder))?;
        if !folder.join(LIBRARY).is_file() {
            return Err(Error::NoLibrary { folder, library: LIBRARY });
        }
        let before = env::var_os(LOADER_PATH).unwrap_or_default();
        let all = [folder.clone()].into_iter().chain(env::split_paths(&before));
        cargo.env(LOADER_PATH, env::join_paths(all).map_err(|source| Error::LoaderPath { folder, source })?);
    }
    let status = cargo.status().map_err(|source| Error::Start { command: COMMAND, source })?;
    if !status.success() {
        return Err(Error::Command { command: COMMAND, message: format!("its message is above ({status})") });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_compiler_is_refused_before_anything_is_built() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let said = |folder: &Path| run(root, Some(folder), true).unwrap_err().to_string();
        let empty = said(&root.join("src"));
        assert!(empty.contains(LIBRARY) && empty.contains("pip install"), "{empty}");
        assert!(said(&root.join("absent")).contains("absent"));
    }
}
