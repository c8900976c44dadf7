//! Misuse that must not compile, each for its own reason.
//!
//! A case names the error code that it must meet, and marks the line with `//~`. Messages are not compared: their
//! wording changes from compiler to compiler.

#![allow(clippy::unwrap_used)] // how tests fail

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Case {
    name: String,
    file: PathBuf,
    /// Code and line of the error; `None` where the case must compile.
    error: Option<(String, usize)>,
}

/// The cases of a folder; every one must have an error exactly where `failing` says so.
fn cases(folder: &Path, failing: bool) -> Vec<Case> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "rs"));
    let case = |file: PathBuf| {
        let text = fs::read_to_string(&file).unwrap();
        let marked = text.lines().enumerate().find_map(|(i, line)| {
            let (_, code) = line.split_once("//~ ")?;
            Some((code.trim().to_owned(), i + 1))
        });
        assert_eq!(marked.is_some(), failing, "{}", file.display());
        Case { name: file.file_stem().unwrap().to_str().unwrap().to_owned(), file, error: marked }
    };
    files.map(case).collect()
}

/// A package with one program for each case.
fn package(folder: &Path, cases: &[Case]) -> PathBuf {
    let core = env!("CARGO_MANIFEST_DIR");
    let mut manifest = format!(
        "[package]\nname = \"cases\"\nedition = \"2024\"\nautobins = false\n[workspace]\n[dependencies]\n\
         interop-core = {{ path = '{core}' }}\n"
    );
    for case in cases {
        let _ = write!(manifest, "[[bin]]\nname = \"{}\"\npath = '{}'\n", case.name, case.file.display());
    }
    fs::create_dir_all(folder).unwrap();
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest).unwrap();
    fs::copy(Path::new(core).join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    path
}

#[test]
fn misuse_does_not_compile() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let all: Vec<Case> = cases(&here, true).into_iter().chain(cases(&here.join("right"), false)).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail");
    let manifest = package(&folder, &all);
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--keep-going", "--message-format=short", "--manifest-path"])
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env("CARGO_TERM_COLOR", "never")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    println!("{said}");
    assert!(said.contains("interop-core"), "the crate itself was not built");
    for case in &all {
        let file = format!("{}.rs:", case.name);
        let errors: Vec<&str> = said.lines().filter(|l| l.contains(&file) && l.contains("error")).collect();
        match &case.error {
            None => assert!(errors.is_empty(), "{} must compile: {errors:?}", case.name),
            Some((code, line)) => {
                let expected = [format!("{file}{line}:"), format!("error[{code}]")];
                assert!(
                    !errors.is_empty() && errors.iter().all(|said| expected.iter().all(|e| said.contains(e))),
                    "{} must fail with {code} in line {line}, and with nothing else: {errors:?}",
                    case.name
                );
            }
        }
    }
}
