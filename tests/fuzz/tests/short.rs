//! A short run of every area: the same operations each time, in a process of its own.

// How tests fail.
#![allow(clippy::unwrap_used)]

use pixelferry_testing::Need;
use std::process::Command;

/// More than a round of each.
const OPERATIONS: &str = "1200";

fn area(name: &str) {
    let mut fuzz = Command::new(env!("CARGO_BIN_EXE_pixelferry-fuzz"));
    fuzz.args(["--seed", "1", "--operations", OPERATIONS, "--area", name]);
    // One driver; two would bring two copies of LLVM into the process.
    fuzz.envs(Need::Pocl.row().environment.iter().copied());
    for (driver, need) in [("opencl", Need::Pocl), ("gl", Need::Egl)] {
        if need.is_required() {
            fuzz.args(["--need", driver]);
        }
    }
    let ended = fuzz.output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    // With what was skipped.
    println!("{said}");
    assert!(ended.status.success(), "{}\n{said}\n{errors}", ended.status);
    assert!(said.contains("operations, "), "{said}");
}

#[test]
fn compute() {
    area("compute");
}

#[test]
fn cl() {
    area("cl");
}

#[test]
fn links() {
    area("links");
}

#[test]
fn arrays() {
    area("arrays");
}

#[test]
fn files() {
    area("files");
}

#[test]
fn engines() {
    area("engines");
}

#[test]
fn host() {
    area("host");
}
