//! Checks that the packages are complete: a program outside the workspace builds with the packed crates.

mod metadata;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::repository::cargo;
use metadata::Workspace;

/// Files that each package must contain; the licences equal the repository's.
const LICENSES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
const README: &str = "README.md";
/// Size limit, which detects a picture or build folder that was packed by mistake.
const MOST_BYTES: u64 = 512 * 1024;
/// The first cargo that packs crates of one workspace together; the workspace builds with an older one.
const OLDEST: (u32, u32) = (1, 90);
/// The outside program, which uses every backend and every display of the facade.
const PROGRAM: &str = include_str!("program.rs");

/// Packs the published crates, unpacks them, and checks them with a program that uses them.
pub fn run(root: &Path) -> Result<(), Error> {
    let version = version(root)?;
    if version < OLDEST {
        println!(
            "SKIPPED: this is cargo {}.{}, which cannot pack crates whose dependencies are unpublished",
            version.0, version.1
        );
        return Ok(());
    }
    let workspace = Workspace::read(root)?;
    if workspace.published.is_empty() {
        return Err(Error::NothingToCheck);
    }
    let folder = workspace.target.join("packages");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Error::file("remove", &folder))?;
    }
    pack(root, &workspace, &folder)?;
    let outside = folder.join("outside");
    fs::create_dir_all(outside.join("program")).map_err(Error::file("make", &outside))?;
    for package in &workspace.published {
        let package = &package.packed();
        let file = folder.join("package").join(format!("{package}.crate"));
        let bytes = fs::metadata(&file).map_err(Error::file("find", &file))?.len();
        println!("{:>4} KiB {package}", bytes.div_ceil(1024));
        if bytes > MOST_BYTES {
            return Err(Error::Package { name: package.clone(), problem: format!("it has {bytes} bytes") });
        }
        // "m": all times in the package are equal, so cargo would reuse an earlier build.
        finish("tar", Command::new("tar").arg("-xmzf").arg(&file).arg("-C").arg(&outside))?;
        complete(root, &outside.join(package), package)?;
    }
    check(root, &workspace, &outside)
}

/// Returns major and minor version from `cargo --version`.
fn version(root: &Path) -> Result<(u32, u32), Error> {
    const COMMAND: &str = "cargo --version";
    let output = cargo().arg("--version").current_dir(root).output();
    let output = output.map_err(|source| Error::Start { command: COMMAND, source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    version_in(&text).ok_or_else(|| Error::Command { command: COMMAND, message: format!("no version in {text:?}") })
}

fn version_in(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("cargo ")?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Makes the `.crate` files from the working tree.
fn pack(root: &Path, workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut cargo = cargo();
    cargo.args(["package", "--quiet", "--locked", "--no-verify", "--allow-dirty", "--target-dir"]).arg(folder);
    for package in &workspace.published {
        cargo.args(["--package", &package.name]);
    }
    finish("cargo package", cargo.current_dir(root))
}

/// Checks that a package has all required files.
fn complete(root: &Path, package: &Path, name: &str) -> Result<(), Error> {
    let read = |file: &Path| fs::read(file).map_err(Error::file("read", file));
    if read(&package.join(README))?.is_empty() {
        return Err(Error::Package { name: name.to_owned(), problem: format!("its {README} is empty") });
    }
    for license in LICENSES {
        // A symbolic link to the licence that was checked out as a text file would be packed as such.
        if read(&package.join(license))? != read(&root.join(license))? {
            let problem = format!("its {license} differs from the repository's");
            return Err(Error::Package { name: name.to_owned(), problem });
        }
    }
    Ok(())
}

/// Compiles the unpacked crates and the program with each other, as if they came from a registry.
fn check(root: &Path, workspace: &Workspace, outside: &Path) -> Result<(), Error> {
    let version = env!("CARGO_PKG_VERSION");
    let write = |name: &str, text: &str| {
        let file = outside.join(name);
        fs::write(&file, text).map_err(Error::file("write", file))
    };
    // Use the workspace's debug information, so that dependencies are not built again.
    let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"program\", \"*-*.*.*\"]\n\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n\n[patch.crates-io]\n"
        .to_owned();
    for package in &workspace.published {
        manifest.push_str(&format!("{} = {{ path = \"{}\" }}\n", package.name, package.packed()));
    }
    write("Cargo.toml", &manifest)?;
    write(
        "program/Cargo.toml",
        &format!(
            "[package]\nname = \"program\"\nedition = \"2024\"\n\n[[bin]]\nname = \"program\"\npath = \"main.rs\"\n\n\
             [dependencies]\npixelferry = {{ version = \"{version}\", features = [\"program\", \"vulkan\", \"wgpu\"] }}\n"
        ),
    )?;
    write("program/main.rs", PROGRAM)?;
    // Use the versions that the workspace is tested with; cargo drops unused ones.
    let lock = root.join("Cargo.lock");
    fs::copy(&lock, outside.join("Cargo.lock")).map_err(Error::file("copy", lock))?;
    let mut cargo = cargo();
    cargo.args(["check", "--quiet", "--target-dir"]).arg(&workspace.target).current_dir(outside);
    finish("cargo check", &mut cargo)?;
    println!("a program outside the workspace builds with {} packed crates", workspace.published.len());
    Ok(())
}

/// Runs a command to its end and shows its output.
fn finish(name: &'static str, command: &mut Command) -> Result<(), Error> {
    let status = command.status().map_err(|source| Error::Start { command: name, source })?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Command { command: name, message: format!("its message is above ({status})") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_cargo_are_compared_as_numbers() {
        let found = ["cargo 1.88.0 (873a06493 2025-05-10)", "cargo 1.90.0-beta.1", "cargo 1.100.0"].map(version_in);
        assert_eq!(found, [Some((1, 88)), Some((1, 90)), Some((1, 100))]);
        assert!(found[0] < Some(OLDEST) && found[1] >= Some(OLDEST) && found[2] > Some(OLDEST));
        assert_eq!(version_in("rustc 1.95.0"), None);
    }
}
