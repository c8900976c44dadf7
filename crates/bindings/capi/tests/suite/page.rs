//! docs/c.md: every program, command and line for CMake on it is what readers copy, so each is compiled and run here.

use crate::common::{done, libraries, package, root, run, scratch};
use crate::programs::STATIC;
use pixelferry_testing::{Level, Need, from, need};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn page() -> String {
    fs::read_to_string(repository().join("docs/c.md")).unwrap()
}

fn repository() -> PathBuf {
    root().join("../../..").canonicalize().unwrap()
}

/// Blocks of this language.
fn blocks(mark: &str) -> Vec<String> {
    let (page, start) = (page(), format!("```{mark}\n"));
    let pieces = page.split(&start).skip(1);
    pieces.map(|piece| piece.split_once("```").unwrap().0.to_owned()).collect()
}

/// The one block of the page with commands that contain this.
fn commands(with: &str) -> String {
    let mut found = blocks("sh").into_iter().filter(|block| block.contains(with));
    let first = found.next().unwrap_or_else(|| panic!("no commands with {with}"));
    assert!(found.next().is_none(), "{with}");
    first
}

/// A shell for commands without those that build the library, with the loader's own search only.
fn shell(folder: &Path, commands: &str) -> Command {
    let builds = |line: &&str| line.starts_with("cargo ") || line.starts_with("scripts/");
    let lines: Vec<&str> = commands.lines().filter(|line| !builds(line)).collect();
    let mut shell = run("sh");
    shell.env_remove("LD_LIBRARY_PATH").args(["-ec", &lines.join("\n")]).current_dir(folder);
    shell
}

fn sh(folder: &Path, commands: &str) {
    done(&mut shell(folder, commands));
}

/// A new folder with the page's C program in it.
fn with_ramp(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let [program] = <[String; 1]>::try_from(blocks("c")).unwrap();
    fs::write(folder.join("ramp.c"), program).unwrap();
    folder
}

#[test]
fn the_programs_of_the_page_run() {
    let Some(_) = need(Need::Cc, Command::new("cc").arg("--version").output()) else { return };
    let folder = with_ramp("page");
    let library = libraries().display().to_string();
    let commands = commands("-Ltarget/release").replace("$PWD/target/release", &library);
    let commands = commands
        .replace("target/release", &library)
        .replace("-Icrates", &format!("-I{}/crates", repository().display()));
    sh(&folder, &commands);
    assert!(fs::read(folder.join("ramp.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(page().contains(STATIC));
    // A program without the rpath.
    let bare = commands.replace(&format!(" -Wl,-rpath,\"{library}\""), "");
    assert_ne!(bare, commands);
    assert_eq!(shell(&folder, &bare).output().unwrap().status.code(), Some(127));
    done(shell(&folder, "./ramp").env("LD_LIBRARY_PATH", &library));
    // Those in C++ are lines of a program that has a test of its own; `xtask check-pages` holds them equal.
    let quoted = "<!-- lines of crates/bindings/capi/examples/window.cpp -->\n```cpp\n";
    assert_eq!(page().matches(quoted).count(), blocks("cpp").len());
    assert_eq!((blocks("sh").len(), blocks("cmake").len()), (3, 1));
}

/// `scripts/archive --prefix` installs as the page says; pkg-config and CMake find it, and what they link runs.
#[test]
fn what_is_installed_is_found_by_pkg_config_and_by_cmake() {
    if !from(Level::All) {
        return;
    }
    let Some(_) = need(Need::Cc, Command::new("cc").arg("--version").output()) else { return };
    let (folder, prefix) = (with_ramp("page-installed"), scratch("installed"));
    let _ = fs::remove_dir_all(&prefix);
    let here = |text: &str| text.replace("$HOME/.local", &prefix.display().to_string());
    let commands_of_c = here(&commands("scripts/archive"));
    let install = commands_of_c.lines().find(|line| line.starts_with("scripts/archive")).unwrap();
    // The tests do not use optimised code. They use libraries in the folder of their own build meanwhile.
    let install = format!("{install} --profile dev");
    let mut installs = Command::new("sh");
    installs.args(["-ec", &install]).current_dir(repository()).env_remove("RUSTC_BOOTSTRAP");
    done(installs.env("CARGO_TARGET_DIR", scratch("archive")).env("CARGO_PROFILE_DEV_DEBUG", "0"));
    sh(&folder, &commands_of_c);
    assert!(fs::read(folder.join("ramp.png")).unwrap().starts_with(b"\x89PNG"));
    if need(Need::Glfw, package("glfw3")).is_some()
        && need(Need::Xvfb, Command::new("xvfb-run").arg("--help").output()).is_some()
    {
        let examples = format!("{}/crates/bindings/capi/examples", repository().display());
        let commands = here(&commands("glfw3")).replace("crates/bindings/capi/examples", &examples);
        let commands = commands.replace("\n./window", "\nxvfb-run -a ./window 3");
        let pkg_config = format!("export PKG_CONFIG_PATH={}/lib/pkgconfig\n", prefix.display());
        sh(&folder, &(pkg_config + &commands));
    }
    let Some(_) = need(Need::Cmake, Command::new("cmake").arg("--version").output()) else { return };
    fs::copy(root().join("examples/picture.cpp"), folder.join("picture.cpp")).unwrap();
    let [lines] = <[String; 1]>::try_from(blocks("cmake")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let lists = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(outside CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
         add_executable(mine picture.cpp)\n{lines}find_package(pixelferry {version} EXACT CONFIG REQUIRED)\n"
    );
    fs::write(folder.join("CMakeLists.txt"), lists).unwrap();
    sh(
        &folder,
        &format!(
            "cmake -S . -B build -DCMAKE_PREFIX_PATH={} && cmake --build build && build/mine cpu memory",
            prefix.display()
        ),
    );
}
