//! The examples run, and show what they say.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds an example, as `cargo test` does not where it is asked for one test.
fn example(name: &str) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--locked", "--package", env!("CARGO_PKG_NAME"), "--example", name]);
    // Build scripts that look at these would run again, and all that depends on them.
    let of_cargo = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_"].iter().any(|it| name.starts_with(it));
    for (name, _) in std::env::vars().filter(|(name, _)| of_cargo(name)) {
        cargo.env_remove(name);
    }
    let release = !cfg!(debug_assertions);
    assert!(cargo.args(release.then_some("--release")).status().unwrap().success());
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join("examples").join(name)
}

#[test]
fn a_deep_zoom_by_workers_is_the_picture_of_one_process() {
    let mandelbrot = example("mandelbrot");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let picture = |words: &[&str], name: &str| {
        let file = folder.join(name);
        let text = file.to_str().unwrap();
        let ran = Command::new(&mandelbrot).args(words).arg(text).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        std::fs::read(&file).unwrap()
    };
    let alone = picture(&["alone", "4"], "mandelbrot-alone.ppm");
    let colours: HashSet<_> = alone[15..].chunks_exact(3).collect();
    assert!(colours.len() > 100, "so deep there is nothing to see: {} colours", colours.len());
    for workers in ["1", "3"] {
        assert!(picture(&["zoom", workers, "4"], "mandelbrot.ppm") == alone, "{workers} workers show another picture");
    }
}
