//! Checks that everything compiles for operating systems that are not tested.
//!
//! Wine 9 or later (with the `bcryptprimitives.dll` that Rust programs need) runs binaries of mingw's linker, for
//! example `CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine cargo run --target x86_64-pc-windows-gnu -p pixelferry-cli
//! -- probe`. The tests `surfaces::`, `colour::`, `contexts::` and `timeline::` of `pixelferry-gl` have passed there.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::repository;

const TARGETS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Checks and lints all libraries, programs and examples for each target whose standard library is available.
pub fn run(root: &Path) -> Result<(), Error> {
    let mut targets = Vec::new();
    for target in TARGETS {
        match standard_library(root, target) {
            Ok(()) => targets.push(target),
            Err(why) => println!("SKIPPED: {target}: {why}"),
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    const COMMAND: &str = "cargo clippy --target";
    let mut cargo = repository::cargo();
    // Without tests: they use this machine's drivers, and some of their crates build C.
    cargo.args(["clippy", "--locked", "--workspace", "--lib", "--bins", "--examples"]);
    cargo.args(["--features", "pixelferry/wgpu"]).current_dir(root);
    for target in &targets {
        cargo.args(["--target", target]);
    }
    let status = cargo.args(["--", "-D", "warnings"]).status();
    let status = status.map_err(|source| Error::Start { command: COMMAND, source })?;
    if !status.success() {
        return Err(Error::Command { command: COMMAND, message: format!("its message is above ({status})") });
    }
    println!("compiled for {}; run on neither", targets.join(" and "));
    Ok(())
}

/// Asks rustup for a target's standard library if it is missing.
fn standard_library(root: &Path, target: &str) -> Result<(), String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(rustc).args(["--print", "target-libdir", "--target", target]).current_dir(root).output();
    let folder = asked.map_err(|e| format!("cannot run rustc: {e}"))?.stdout;
    if Path::new(String::from_utf8_lossy(&folder).trim()).is_dir() {
        return Ok(());
    }
    let asked = Command::new("rustup").args(["target", "add", target]).current_dir(root).output();
    let asked = asked.map_err(|e| format!("its standard library is not installed, and rustup cannot be run: {e}"))?;
    if asked.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&asked.stderr);
    Err(format!(
        "rustup cannot fetch its standard library: {}",
        said.trim().lines().last().unwrap_or("no reason given")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_target_is_skipped_with_a_reason() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let why = standard_library(root, "pdp11-dec-unix").unwrap_err();
        assert!(why.contains("standard library"), "{why}");
    }
}
