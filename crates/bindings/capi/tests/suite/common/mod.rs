//! Compiling and running programs in C and C++ against the library that cargo built.

// Each test file uses a part of it.
#![allow(dead_code)]

use pixelferry_testing::{Need, by_level, need};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A program's language.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

/// A compiler's command with what every file is compiled with; warnings are errors.
pub fn compiler(language: Language) -> Option<Command> {
    let (name, standard) = match language {
        Language::C => ("cc", "-std=c11"),
        Language::Cpp => ("c++", "-std=c++17"),
    };
    need(Need::Cc, Command::new(name).arg("--version").output())?;
    let mut compiler = Command::new(name);
    compiler
        .args([standard, "-g", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-I"])
        .arg(root().join("include"));
    Some(compiler)
}

/// The crate's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of this test's own.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The folder with `libpixelferry_capi.so` and `.a`: where the test itself lies.
pub fn libraries() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Links `file` with the shared library and what `libraries` names, which the loader finds when it runs.
pub fn build(language: Language, file: &Path, libraries_too: &[String]) -> Option<PathBuf> {
    let program = scratch(file.file_name().unwrap().to_str().unwrap()).with_extension(match language {
        Language::C => "c.run",
        Language::Cpp => "cpp.run",
    });
    let folder = libraries();
    let mut compiler = compiler(language)?;
    compiler.arg(file).arg("-o").arg(&program).arg("-L").arg(&folder).arg("-lpixelferry_capi");
    compiler.arg(format!("-Wl,-rpath,{}", folder.display())).args(libraries_too);
    done(&mut compiler);
    Some(program)
}

/// Returns what pkg-config says of a library.
pub fn package(name: &str) -> Result<Vec<String>, String> {
    let output = Command::new("pkg-config").args(["--cflags", "--libs", name]).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
}

/// A command that measures nothing for later (nor for itself at the shortest level), and loads this library before one that another build left behind.
pub fn run(program: impl AsRef<OsStr>) -> Command {
    let others = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::iter::once(libraries()).chain(env::split_paths(&others));
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", env::join_paths(folders).unwrap());
    command.env("PIXELFERRY_CALIBRATE_MS", by_level("0", "", ""));
    command.env("PIXELFERRY_PROFILES", "off").env("OCL_ICD_VENDORS", "pocl.icd");
    command
}

/// Runs a command that must succeed; what it printed.
#[track_caller]
pub fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(status.success(), "{command:?}: {status}\n{text}");
    text
}
