//! The examples in C and C++, and programs that misuse the library: built, run, their pictures compared.

// Programs find the library as Linux's loader does.
#![cfg(target_os = "linux")]
// Helpers of tests may panic as tests may.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Language, build, done, package, root, run, scratch};
use pixelferry_testing::{Need, need};
use std::fs;
use std::process::Command;

#[test]
fn a_c_program_saves_what_threads_compute_in_plain_memory() {
    let Some(program) = build(Language::C, &root().join("examples/picture.c"), &[]) else { return };
    let file = scratch("rings.png");
    let _ = fs::remove_file(&file);
    let said = done(run(program).arg(&file));
    assert!(said.contains("every pixel as computed"), "{said}");
    assert!(fs::read(file).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_c_program_draws_in_its_own_window() {
    let Some(mut libraries) = need(Need::Glfw, package("glfw3")) else { return };
    let Some(gl) = need(Need::Glfw, package("gl")) else { return };
    libraries.extend(gl);
    let Some(program) = build(Language::C, &root().join("examples/window.c"), &libraries) else { return };
    if need(Need::Xvfb, Command::new("xvfb-run").arg("--help").output()).is_none() {
        return;
    }
    for (backend, wanted) in [("cpu", None), ("gl", None), ("opencl", Some(Need::Pocl))] {
        let mut command = run("xvfb-run");
        let output = command.arg("-a").arg(&program).arg(backend).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        if let Some(driver) = wanted
            && said.contains("PF_ERROR_UNAVAILABLE")
        {
            need::<()>(driver, Err(said));
            continue;
        }
        assert!(output.status.success() && said.contains("every pixel as computed"), "{backend}: {said}");
    }
}
