//! The package as Python sees it: runs the tests in `python`, with pytest and NumPy, on the extension that cargo built.

// The file names of extensions, and the X server, are Linux's.
#![cfg(target_os = "linux")]
// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Python with what the tests import; `PIXELFERRY_PYTHON` names one.
fn python() -> Option<OsString> {
    let named = env::var_os("PIXELFERRY_PYTHON");
    let candidates = named.map_or_else(|| vec!["python3".into(), "/usr/bin/python3".into()], |python| vec![python]);
    candidates.into_iter().find(|python| {
        let import = "import sys, numpy, pytest; assert sys.version_info >= (3, 11)";
        let status = Command::new(python).args(["-c", import]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// A folder with the extension under the name that Python looks for.
fn package() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    fs::create_dir_all(&folder).unwrap();
    let built = env::current_exe().unwrap().with_file_name("libpixelferry_py.so");
    let module = folder.join("pixelferry.abi3.so");
    let _ = fs::remove_file(&module);
    fs::hard_link(&built, &module).or_else(|_| fs::copy(&built, &module).map(|_| ())).unwrap();
    folder
}

#[test]
fn the_package_works_in_python() {
    let Some(python) = python() else {
        let why = "no Python 3.11 with numpy and pytest (Debian: python3-numpy python3-pytest)";
        let required = env::var("PIXELFERRY_REQUIRE").is_ok_and(|list| list.split(',').any(|name| name == "python"));
        assert!(!required && env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
        println!("SKIPPED: {why}");
        return;
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let status = Command::new(python)
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--durations=5"])
        .arg(&tests)
        .env("PYTHONPATH", package())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PIXELFERRY_PROFILES", "off")
        .status()
        .unwrap();
    assert!(status.success(), "pytest: {status}");
}
