//! The examples run, and show what they say.

use pixelferry_testing::{Level, from};
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

/// The file that an example writes when it is given these words; `FILE` stands for its name.
fn picture(program: &Path, words: &[&str], name: &str) -> Vec<u8> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let words: Vec<_> = words.iter().map(|&word| if word == "FILE" { file.to_str().unwrap() } else { word }).collect();
    let ran = Command::new(program).args(&words).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    print!("{out}");
    assert!(ran.status.success(), "{words:?}: {out}{err}");
    std::fs::read(&file).unwrap()
}

fn colours(picture: &[u8]) -> usize {
    picture[15..].chunks_exact(3).collect::<HashSet<_>>().len()
}

#[test]
fn a_fluid_in_parts_is_bit_for_bit_that_of_one_process() {
    if !from(Level::All) {
        return;
    }
    let fluid = example("fluid");
    for size in ["97x61", "64x33"] {
        let alone = picture(&fluid, &["alone", "100", size, "FILE"], "fluid-alone.ppm");
        let before = picture(&fluid, &["alone", "99", size, "FILE"], "fluid-before.ppm");
        assert!(colours(&alone) > 30 && alone != before, "nothing moves: {} colours", colours(&alone));
        for parts in ["1", "2", "3", "4"] {
            let shown = picture(&fluid, &["run", parts, "100", size, "FILE"], "fluid.ppm");
            assert!(shown == alone, "{parts} parts of {size} show another picture");
        }
    }
}

#[test]
fn a_fluid_goes_on_from_its_checkpoint_when_a_worker_dies() {
    if !from(Level::All) {
        return;
    }
    let fluid = example("fluid");
    let alone = picture(&fluid, &["alone", "120", "97x61", "FILE"], "fluid-whole.ppm");
    let shown = picture(&fluid, &["lose", "3", "120", "97x61", "FILE"], "fluid-lost.ppm");
    assert!(shown == alone, "after a worker's death it is another picture");
}
