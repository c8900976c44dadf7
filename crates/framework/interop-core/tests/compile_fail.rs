//! Misuse that must not compile, each for its own reason.
//!
//! A case names the error code that it must meet, and marks the line with `//~`. Messages are not compared: their
//! wording changes from compiler to compiler. The compiler gets the crate as cargo has built it for this very test.

#![allow(clippy::unwrap_used)] // how tests fail

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

/// The crate's library. Cargo may keep several; the newest is of the sources as they are, for a test is built after them.
fn library(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libinterop_core-") && name.ends_with(".rlib")
    };
    files.filter(is_ours).max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap()).unwrap()
}

/// Returns what the compiler says of a case.
fn said_of(case: &Case, folder: &Path, library: &Path, out: &Path) -> String {
    let output = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"))
        .args(["--edition=2024", "--emit=metadata", "--error-format=short", "--out-dir"])
        .arg(out)
        .arg(format!("-Ldependency={}", folder.display()))
        .arg(format!("--extern=interop_core={}", library.display()))
        .arg(&case.file)
        .output()
        .unwrap();
    assert_eq!(output.status.success(), case.error.is_none(), "{}", case.name);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn misuse_does_not_compile() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let all: Vec<Case> = cases(&here, true).into_iter().chain(cases(&here.join("right"), false)).collect();
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    let library = library(folder);
    let out = std::env::temp_dir().join(format!("pixelferry-compile-fail-{}", std::process::id()));
    fs::create_dir_all(&out).unwrap();
    for case in &all {
        let said = said_of(case, folder, &library, &out);
        println!("{}: {said}", case.name);
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
    fs::remove_dir_all(&out).unwrap();
}
